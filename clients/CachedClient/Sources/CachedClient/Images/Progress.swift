/// The progress of a download.
public struct Progress: Sendable, Hashable {
    public enum Phase: Sendable, Hashable {
        /// The download waits for a slot, or until its origin may be asked again.
        case queued
        /// The daemon looks up the host, connects, or waits for the first byte.
        case connecting
        case receiving
        /// The download waits for the next attempt.
        case retrying
        /// The image is made of a larger one.
        case deriving
        /// All bytes have arrived; the daemon writes them to the disk.
        case publishing
    }

    /// Bytes received so far, including those of a download that is continued.
    public let received: Int64
    /// Bytes of the whole image; `nil` while unknown.
    public let total: Int64?
    public let phase: Phase
    /// The width in pixels that a viewer shows, as soon as the bytes show it.
    public let width: Int?
    /// The height in pixels that a viewer shows, as soon as the bytes show it.
    public let height: Int?

    /// Makes a progress, for tests of applications.
    public init(
        received: Int64, total: Int64?, phase: Phase = .receiving, width: Int? = nil,
        height: Int? = nil
    ) {
        (self.received, self.total, self.phase) = (received, total, phase)
        (self.width, self.height) = (width, height)
    }

    /// The received share, 0 to 1; `nil` while the total is unknown.
    public var fraction: Double? {
        guard let total, total > 0 else { return nil }
        return min(Double(received) / Double(total), 1)
    }
}
