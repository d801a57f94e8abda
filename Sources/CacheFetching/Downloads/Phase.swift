/// The phase of a download.
public enum Phase: Sendable {
    /// The download waits for a transfer slot or for space.
    case queued
    /// The download resolves the host, connects, or waits for the response to begin.
    case connecting
    /// Bytes arrive in `NAME.part`.
    case receiving
    /// The download failed and pauses before the next attempt. It holds no slot and no space during
    /// the pause.
    case retrying
    /// The image is being made of another one.
    case deriving
    /// The image has been checked and is being made durable under its name.
    case publishing

    /// Whether bytes of the image can arrive.
    package var isRunning: Bool { self == .connecting || self == .receiving || self == .deriving }
}
