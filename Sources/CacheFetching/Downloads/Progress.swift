public import CacheValues
public import ImageFormats

/// The progress of a download.
public struct Progress: Hashable, Sendable {
    public let phase: Phase
    /// Bytes received.
    public let received: Int64
    /// Bytes the origin promised; `nil` while that is unknown.
    public let total: Int64?
    /// The type and dimensions that the first bytes show. `nil` until they show any.
    public let shape: ImageShape?
    /// Whether the image will be pinned when it is published. `nil` if no caller asked for either.
    public var isPinned: Bool?
    /// The reason why the previous attempt failed, if one did.
    public var failure: Failure?
    /// Where the bytes come from: the store is asked before the origin.
    public let source: ImageSource

    package init(
        phase: Phase, received: Int64, total: Int64?, shape: ImageShape? = nil,
        isPinned: Bool? = nil, failure: Failure? = nil, source: ImageSource = .origin
    ) {
        self.source = source
        (self.phase, self.received, self.total) = (phase, received, total)
        (self.shape, self.isPinned, self.failure) = (shape, isPinned, failure)
    }

    /// 0 to 100. `nil` while the total is unknown.
    public var percent: Double? {
        guard let total, total > 0 else { return nil }
        return Double(received) * 100 / Double(total)
    }
}
