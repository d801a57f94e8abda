/// Whether a walked file is all there.
struct WalkVerdict: Sendable, Equatable {
    var completeness: ImageReport.Completeness
    var hasTrailingBytes = false

    static let empty = WalkVerdict(completeness: .empty)
    static let truncated = WalkVerdict(completeness: .truncated)
    static let cut = WalkVerdict(completeness: .cut)
    static let unverifiable = WalkVerdict(completeness: .unverifiable)

    /// The verdict on a file of `length` bytes that says itself that its image ends at offset `end`.
    ///
    /// - Parameters:
    ///   - padding: bytes before the end that nobody misses.
    ///   - slack: bytes behind the end that still belong to the image.
    static func reaches(
        _ end: UInt64, of length: UInt64, padding: UInt64 = 0, slack: UInt64 = 0
    ) -> WalkVerdict {
        end > length.plusClamped(padding) ? .cut : .ends(at: end, of: length, slack: slack)
    }

    /// The verdict on a file of `length` bytes whose image ends at offset `end`.
    ///
    /// - Parameters:
    ///   - end: `nil` if the end was not found.
    ///   - slack: bytes behind the end that still belong to the image.
    static func ends(at end: UInt64?, of length: UInt64, slack: UInt64 = 0) -> WalkVerdict {
        guard let end, end <= length else { return .truncated }
        return WalkVerdict(completeness: .whole, hasTrailingBytes: length - end > slack)
    }
}
