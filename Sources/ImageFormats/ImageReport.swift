/// What ``ImageInspector`` found out about one file.
package struct ImageReport: Sendable, Equatable {
    /// Whether the file is all there, as far as its format can tell.
    package enum Completeness: Sendable, Equatable {
        /// The format's own lengths and end mark say it is complete.
        case whole
        /// It begins like an image, and too little of one follows to show anything.
        case empty
        /// The end mark is missing, or the lengths contradict each other before the end is reached.
        case truncated
        /// A length the file states for a part of the image reaches beyond the file.
        case cut
        /// The format does not say where it ends, or this is not an image we know.
        case unverifiable
    }

    /// `nil` if this is not an image we know; never ``MediaType/other``.
    package let mediaType: MediaType?
    /// In pixels as stored, before any rotation the metadata asks for. `nil` if not found.
    package let width: Int?
    /// In pixels as stored, before any rotation the metadata asks for. `nil` if not found.
    package let height: Int?
    package let completeness: Completeness
    /// Bytes follow the end of the image. Cameras append previews and clips, so this is no fault.
    package let hasTrailingBytes: Bool

    package init(
        mediaType: MediaType?, width: Int?, height: Int?, completeness: Completeness,
        hasTrailingBytes: Bool
    ) {
        self.mediaType = mediaType
        self.width = width
        self.height = height
        self.completeness = completeness
        self.hasTrailingBytes = hasTrailingBytes
    }
}
