import CClient

/// A call with one reply, which it waits for.
public enum SingleCall {
    /// Milliseconds until the daemon counts as not answering.
    private static let patience: Int64 = 5000

    /// The descriptor of a cached image's file from the daemon; a negative errno if there is none.
    public static func open(_ url: [UInt8], _ sockets: [[UInt8]]) -> Int32 {
        var file: Int32 = -1
        let (_, failure) = reply(to: Calls.open(url), sockets, &file)
        guard failure == 0 else { return failure }
        return file >= 0 ? file : -ENOENT
    }

    /// Pins an image, or ends that; 0, or a negative errno.
    public static func pin(_ url: [UInt8], _ isPinned: Bool, _ sockets: [[UInt8]]) -> Int32 {
        var file: Int32 = -1
        let (reply, failure) = reply(to: Calls.pin(url, isPinned), sockets, &file)
        if file >= 0 { close(file) }
        guard failure == 0 else { return failure }
        return reply?.events.first.map { $0.kind == nil ? 0 : -ENOENT } ?? -EBADMSG
    }

    private static func reply(
        to message: [UInt8], _ sockets: [[UInt8]], _ file: inout Int32
    ) -> (Reply?, Int32) {
        guard var connection = Connection(sockets) else { return (nil, -ECONNREFUSED) }
        guard connection.send(message) else { return (nil, -ECONNRESET) }
        let end = cclient_now() + patience
        while true {
            switch connection.receive(&file) {
            case .end: return (nil, -ECONNRESET)
            case .message:
                let message = connection.take()
                guard let reply = message.withUnsafeBytes({ Reply($0) }), reply.error == nil else {
                    return (nil, -EBADMSG)
                }
                return (reply, 0)
            case .nothing:
                let left = end - cclient_now()
                guard left > 0, cclient_wait(connection.descriptor, Int32(left)) != 0 else {
                    return (nil, -ETIMEDOUT)
                }
                _ = connection.flush()
            }
        }
    }
}
