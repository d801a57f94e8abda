import NIOCore
import Synchronization

/// A long message that waits for a thread which decodes it. Until then it can be given up.
final class WaitingMessage: Sendable {
    /// The length of the message.
    let bytes: Int
    private let message: Mutex<ByteBuffer?>

    init(_ message: ByteBuffer) {
        bytes = message.readableBytes
        self.message = Mutex(message)
    }

    /// Takes the message out, once; `nil` if it was given up.
    func take() -> ByteBuffer? {
        message.withLock { $0.take() }
    }
}
