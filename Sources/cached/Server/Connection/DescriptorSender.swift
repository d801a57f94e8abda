import CLinux
import CacheCore
import Glibc
import NIOCore

/// Sends descriptors over one connection. Used on the event loop only.
struct DescriptorSender {
    /// The largest number of descriptors that the client has not received. Each holds a file, and perhaps an image that
    /// has been evicted.
    static let limit = 64
    /// The least memory that the kernel counts for one message on a Unix socket.
    private static let leastMemory = 512

    /// Descriptors sent since the client had received everything.
    private var sent = 0

    /// Sends a reply with a descriptor. Returns the rest of the reply, or `nil` if the client has to receive others
    /// first.
    mutating func send(
        _ reply: ByteBuffer, with image: OpenImage, over socket: NIOBSDSocket.Handle
    ) -> ByteBuffer? {
        // A message takes at least so much memory, so there cannot be more unreceived ones.
        let unreceived = Int(clinux_unreceived(socket)) / Self.leastMemory
        sent = min(sent, unreceived)
        guard sent < Self.limit else { return nil }
        var rest = reply
        let count = reply.withUnsafeReadableBytes {
            clinux_send_descriptor(socket, $0.baseAddress, $0.count, image.descriptor)
        }
        guard count >= 0 else {
            // The end of the connection shows with the next write.
            return errno == EAGAIN || errno == ETOOMANYREFS ? nil : reply
        }
        sent += 1
        rest.moveReaderIndex(forwardBy: count)
        return rest
    }
}
