import CacheWire
import NIOCore

/// Server-sent events to one page (HTML Standard §9.2). Used on the event loop only.
final class EventStream {
    /// The connection, from the head of the response until its end.
    private weak var handler: RequestHandler?
    /// Called once, when the connection has ended.
    var onEnd: (() -> Void)?

    func begin(on handler: RequestHandler) {
        self.handler = handler
    }

    /// Sends an event. A page that does not read is disconnected, and begins again with what is true then.
    ///
    /// - Parameter data: JSON on one line.
    func send(_ event: String, _ data: ByteBuffer) {
        guard let handler else { return }
        guard handler.isWritable else { return handler.close() }
        var frame = ByteBuffer()
        frame.reserveCapacity(data.readableBytes + event.utf8.count + 16)
        frame.writeString("event: \(event)\ndata: ")
        frame.writeImmutableBuffer(data)
        frame.writeStaticString("\n\n")
        handler.send(frame)
    }

    func send(_ event: String, _ write: (inout JSONText) -> Void) {
        var text = JSONText()
        text.object(write)
        send(event, ByteBuffer(bytes: text.bytes))
    }

    func close() {
        handler?.close()
    }

    func ended() {
        handler = nil
        onEnd?()
        onEnd = nil
    }
}
