/// The progress of the refresh of a cached image: of the request that asks the origin about it, or
/// of the download of a newer version.
public struct Refresh: Hashable, Sendable {
    public let phase: Phase
    /// Bytes received.
    public let received: Int64
    /// Bytes the origin promised; `nil` while that is unknown.
    public let total: Int64?

    public init(_ progress: Progress) {
        (phase, received, total) = (progress.phase, progress.received, progress.total)
    }
}
