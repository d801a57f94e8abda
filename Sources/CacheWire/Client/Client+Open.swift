internal import CClient
internal import ClientCore
import Glibc

extension Client {
    /// The file of a cached image, which the daemon hands over. It can be read even if this user cannot open its path.
    ///
    /// - Returns: the item, and the descriptor of the file, which the caller closes; `nil` if the image is not cached.
    /// - Throws: ``ClientError`` as ``call(_:_:)`` does.
    public func open(_ url: String) throws(ClientError) -> (item: Item, descriptor: Int32?) {
        try send(Call(Methods.Open.name, parameters: Methods.Open.Parameters(url: url)))
        var file: Int32?
        do throws(ClientError) {
            while !input.hasMessage() {
                try receive { (connection, input) throws(ClientError) in
                    try connection.receive(into: &input, file: &file)
                }
            }
            let item = try reply(to: Methods.Open.self).parameters.item
            guard file != nil || item.failure != nil else {
                throw ClientError(
                    .invalidReply, "the daemon at \(path) handed over no regular file of \(url)")
            }
            return (item, file)
        } catch {
            if let file { close(file) }
            throw error
        }
    }
}

extension SocketConnection {
    /// Waits for bytes and appends them to `input`. A descriptor that comes with them replaces `file`. Returns `false`
    /// if the daemon has hung up. poll(2).
    fileprivate func receive(
        into input: inout InputBuffer, file: inout Int32?
    ) throws(ClientError) -> Bool {
        while true {
            var received: Int32 = -1
            let count = input.append(room: 64 << 10) { room in
                cclient_receive(descriptor, room.baseAddress!, room.count, &received)
            }
            if received >= 0 {
                if let file { close(file) }
                file = received
            }
            if count >= 0 {
                return count > 0
            } else if errno == ECONNRESET {
                return false
            } else if errno != EAGAIN {
                throw failure("receive from")
            }
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&entry, 1, -1)
        }
    }
}
