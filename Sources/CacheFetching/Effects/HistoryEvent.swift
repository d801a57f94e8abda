public import CacheKey
public import CacheValues

/// Something that happened to an image, for the log and for people who ask why an image is not here.
public struct HistoryEvent: Hashable, Sendable {
    /// The raw values are part of the protocol.
    public enum Kind: String, CaseIterable, Sendable {
        case fetched, confirmed, derived, failed, evicted, removed, damaged
    }

    /// Why it happened. The raw values are part of the protocol.
    public enum Reason: String, CaseIterable, Sendable {
        /// The cache has more bytes or entries than it may have.
        case budget
        /// Less is free on the disk than has to stay free.
        case diskSpace
        /// Memory is short.
        case pressure
        /// A user asked for it.
        case requested
        /// Nobody used it for the longest time that the limits permit.
        case unused
        /// The origin no longer has the image.
        case gone
        /// The origin forbids keeping the image.
        case notStored
        /// Another program removed or replaced the file.
        case outside
        /// A user removed the image during its download.
        case cancelled
        /// The bytes come from the store that several machines share.
        case store
    }

    /// Set when the event is remembered, because the state has no clock.
    public var at = UnixTime(rawValue: 0)
    public let kind: Kind
    public let key: CacheKey
    /// The URL that names the image; `nil` if it is not known.
    public var url: String?
    /// The bytes of the image or, of an entry that has gone, those of the disk that it used.
    public var bytes: Int64?
    public var reason: Reason?
    /// The user who asked for it.
    public var user: UserID?
    public var failure: Failure?
    /// The URL that was asked and failed.
    package var source: CacheURL?

    package init(
        _ kind: Kind, _ key: CacheKey, _ url: String?, bytes: Int64? = nil,
        because reason: Reason? = nil,
        by user: UserID? = nil, failure: Failure? = nil
    ) {
        (self.kind, self.key, self.url, self.bytes) = (kind, key, url, bytes)
        (self.reason, self.user, self.failure) = (reason, user, failure)
    }
}
