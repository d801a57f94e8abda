/// The findings of ``ImageInspector`` about one file.
package struct ImageReport: Sendable, Equatable {
    /// Whether the file is complete, as far as its format shows.
    package enum Completeness: Sendable, Equatable {
        /// The lengths and the end mark of the format show that the file is complete.
        case whole
        /// The file starts like an image, but has too little of one to show anything.
        case empty
        /// The end mark is missing, or the lengths contradict each other before the end.
        case truncated
        /// A part of the image would reach beyond the end of the file, by the length that the file states.
        case cut
        /// The file breaks the rules of its format, so that no viewer shows it.
        case malformed
        /// The format does not state its end, or the file is not an image of a known format.
        case unverifiable
    }

    /// `nil` if the file is not an image of a known format. Never ``MediaType/other``.
    package let mediaType: MediaType?
    /// Pixels as a viewer shows them, cropped and turned. `nil` if not found.
    package let width: Int?
    /// Pixels as a viewer shows them, cropped and turned. `nil` if not found.
    package let height: Int?
    /// How a viewer turns the stored pixels.
    package let orientation: Orientation
    package let completeness: Completeness
    /// Whether bytes follow the end of the image. This is not an error: cameras append previews and clips.
    package let hasTrailingBytes: Bool

    package init(
        mediaType: MediaType?, width: Int?, height: Int?, orientation: Orientation,
        completeness: Completeness, hasTrailingBytes: Bool
    ) {
        self.mediaType = mediaType
        self.width = width
        self.height = height
        self.orientation = orientation
        self.completeness = completeness
        self.hasTrailingBytes = hasTrailingBytes
    }
}
