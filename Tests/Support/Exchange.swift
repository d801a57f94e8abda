import Glibc

/// All bytes sent and received on one connection to a Unix socket, for clients that don't follow the
/// protocol. Runs on the calling thread and blocks it.
public struct Exchange: Sendable {
    /// How the client ends the conversation.
    public enum Ending: Sendable {
        /// Shuts down its sending side and reads until the other side closes.
        case readsToEnd
        /// Closes the connection without reading anything.
        case closesUnread
    }

    /// The bytes that the other side sent until it closed the connection.
    public private(set) var received: [UInt8] = []

    /// Connects and sends the pieces one by one, and reads all bytes that arrive in between.
    ///
    /// - Throws: `TestFailure` if for `limit` the other side neither reads, writes nor closes.
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

    /// The messages received, without their NULs. Bytes after the last NUL count as a message too.
    public var messages: [ArraySlice<UInt8>] { received.split(separator: 0) }

    private mutating func send(
        _ piece: [UInt8], on socket: Socket, _ limit: Duration
    ) throws {
        var rest = piece[...]
        while !rest.isEmpty {
            let sent = socket.sendAtOnce(rest)
            // The other side may close before everything is sent; the rest is dropped.
            if sent < 0 && errno != EAGAIN { return }
            rest = rest.dropFirst(max(sent, 0))
            if !rest.isEmpty, !(try receive(on: socket, toSend: true, limit)) { return }
        }
    }

    /// Waits for data and receives it; with `toSend` also returns when data can be sent. Returns false
    /// at the end of the stream. poll(2).
    private mutating func receive(
        on socket: Socket, toSend: Bool = false, _ limit: Duration
    ) throws -> Bool {
        let events = Int16(toSend ? POLLIN | POLLOUT : POLLIN)
        var entry = pollfd(fd: socket.descriptor, events: events, revents: 0)
        guard poll(&entry, 1, limit.milliseconds) != 0 else {
            let end = String(decoding: received.suffix(300), as: UTF8.self)
            throw TestFailure("the other side neither answered nor closed; last received: \(end)")
        }
        guard entry.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 else { return true }
        guard let bytes = socket.receive(), !bytes.isEmpty else { return false }
        received += bytes
        return true
    }
}
