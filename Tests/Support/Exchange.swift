import Glibc

/// All that is said on one connection to a Unix socket, and all that is received: for clients that keep to
/// no protocol. Runs on the calling thread and blocks there.
public struct Exchange: Sendable {
    /// How a client ends.
    public enum Ending: Sendable {
        /// Says that no more comes, and listens to the end.
        case readsToEnd
        /// Closes without having read anything.
        case closesUnread
    }

    /// What came from the other side until it closed the connection.
    public private(set) var received: [UInt8] = []

    /// Connects, and sends pieces one by one, reading meanwhile what there is.
    ///
    /// - Throws: `TestFailure` if for so long the other side neither takes nor says anything nor closes.
    public init(
        with path: String, sending pieces: [[UInt8]], _ ending: Ending = .readsToEnd,
        within limit: Duration = .patience
    ) throws {
        let socket = try Socket.connect(toUnix: path)
        defer { socket.close() }
        guard ending == .readsToEnd else {
            for piece in pieces { _ = socket.sendAtOnce(piece[...]) }
            return
        }
        for piece in pieces { try send(piece, on: socket, limit) }
        socket.shutdown(sendingOnly: true)
        while try receive(on: socket, limit) {}
    }

    /// The messages received, without their NULs; what came after the last NUL is one too.
    public var messages: [ArraySlice<UInt8>] { received.split(separator: 0) }

    private mutating func send(
        _ piece: [UInt8], on socket: Socket, _ limit: Duration
    ) throws {
        var rest = piece[...]
        while !rest.isEmpty {
            let sent = socket.sendAtOnce(rest)
            // The other side may close before all is said: the rest is not for it.
            if sent < 0 && errno != EAGAIN { return }
            rest = rest.dropFirst(max(sent, 0))
            if !rest.isEmpty, !(try receive(on: socket, toSend: true, limit)) { return }
        }
    }

    /// Waits until there is something to hear, and takes it; with `toSend` also until something can be
    /// sent. False once nothing more will be received. poll(2).
    private mutating func receive(
        on socket: Socket, toSend: Bool = false, _ limit: Duration
    ) throws -> Bool {
        let events = Int16(toSend ? POLLIN | POLLOUT : POLLIN)
        var entry = pollfd(fd: socket.descriptor, events: events, revents: 0)
        guard poll(&entry, 1, limit.milliseconds) != 0 else {
            let end = String(decoding: received.suffix(300), as: UTF8.self)
            throw TestFailure("no answer and no end of a connection; received last: \(end)")
        }
        guard entry.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 else { return true }
        guard let bytes = socket.receive(), !bytes.isEmpty else { return false }
        received += bytes
        return true
    }
}
