/// What a download is doing.
public enum Phase: Sendable {
    /// Waits for a transfer slot, or for space.
    case queued
    /// Resolving, connecting, or waiting for the response to begin.
    case connecting
    /// Bytes arrive in `NAME.part`.
    case receiving
    /// Failed, and pauses before the next attempt. It holds no slot and no space meanwhile.
    case retrying
    /// Checked; being made durable under its name.
    case publishing

    /// Whether the transfer loop has it.
    package var isRunning: Bool { self == .connecting || self == .receiving }
}
