/// How far a download is.
public struct Progress: Sendable, Hashable {
    public enum Phase: Sendable, Hashable {
        /// Waits for a slot, or until its host may be asked again.
        case queued
        /// Looks up the host, connects, or waits for the first byte.
        case connecting
        case receiving
        /// Waits for the next attempt.
        case retrying
        /// Is being made of a larger image.
        case deriving
        /// Has all bytes and makes them durable.
        case publishing
    }

    /// Bytes received so far, including those of a download that is continued.
    public let received: Int64
    /// Bytes of the whole image; `nil` while unknown.
    public let total: Int64?
    public let phase: Phase
    /// The width in pixels that a viewer shows, as soon as the bytes tell it.
    public let width: Int?
    /// The height in pixels that a viewer shows, as soon as the bytes tell it.
    public let height: Int?

    /// The received share, 0 to 1; `nil` while the total is unknown.
    public var fraction: Double? {
        guard let total, total > 0 else { return nil }
        return min(Double(received) / Double(total), 1)
    }
}
