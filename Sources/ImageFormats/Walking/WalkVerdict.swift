/// Whether a walked file is complete.
struct WalkVerdict: Sendable, Equatable {
    var completeness: ImageReport.Completeness
    var hasTrailingBytes = false

    static let empty = WalkVerdict(completeness: .empty)
    static let truncated = WalkVerdict(completeness: .truncated)
    static let cut = WalkVerdict(completeness: .cut)
    static let malformed = WalkVerdict(completeness: .malformed)
    static let unverifiable = WalkVerdict(completeness: .unverifiable)

    /// The verdict on a file of `length` bytes that itself states the offset `end` of its image's end.
    ///
    /// - Parameters:
    ///   - end: the offset that the file states.
    ///   - length: bytes of the file.
    ///   - slack: bytes behind the end that still belong to the image.
    static func reaches(_ end: UInt64, of length: UInt64, slack: UInt64 = 0) -> WalkVerdict {
        end > length ? .cut : .ends(at: end, of: length, slack: slack)
    }

    /// The verdict on a file of `length` bytes whose image ends at offset `end`.
    ///
    /// - Parameters:
    ///   - end: the offset of the image's end. `nil` if the walker did not find it.
    ///   - length: bytes of the file.
    ///   - slack: bytes behind the end that still belong to the image.
    static func ends(at end: UInt64?, of length: UInt64, slack: UInt64 = 0) -> WalkVerdict {
        guard let end, end <= length else { return .truncated }
        return WalkVerdict(completeness: .whole, hasTrailingBytes: length - end > slack)
    }
}
