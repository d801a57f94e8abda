import Glibc

/// Thousands of connections to a Unix socket that send the same message and are read together.
///
///     let group = try await ConnectionGroup(of: 10_000, at: daemon.socket, in: scope)
///     try await group.sendAll(#"{"method":"org.varlink.service.GetInfo"}"# + "\0")
///     let replies = try await group.receiveAll()      // one per connection
public final class ConnectionGroup: Sendable {
    private let sockets: [Socket]

    /// The number of connections.
    public var count: Int { sockets.count }

    /// Opens all connections. They are closed when the scope ends.
    public init(of count: Int, at path: String, in scope: TestScope) async throws {
        let sockets = try await offPool {
            var sockets: [Socket] = []
            do {
                for _ in 0..<count { sockets.append(try Socket.connect(toUnix: path)) }
            } catch {
                for socket in sockets { socket.close() }
                throw error
            }
            return sockets
        }
        self.sockets = sockets
        scope.atEnd { for socket in sockets { socket.close() } }
    }

    /// Sends `message` on every connection. The message must include its own NUL.
    public func sendAll(_ message: String) async throws {
        let areAllSent = try await offPool { [sockets] in
            sockets.allSatisfy { $0.send(Array(message.utf8)) }
        }
        guard areAllSent else { throw TestFailure("a connection was closed while sending") }
    }

    /// Receives the next message on each connection, in the connections' order, without the NULs.
    public func receiveAll(within limit: Duration = .patience) async throws -> [String] {
        try await offPool { [sockets] in
            let deadline = ContinuousClock.now + limit
            return try sockets.map { socket in
                var message: [UInt8] = []
                while message.last != 0 {
                    let left = deadline - ContinuousClock.now
                    guard left > .zero, socket.wait(orInput: true, within: left) != .timedOut else {
                        throw TestFailure.timedOut("a reply on every connection", after: limit)
                    }
                    guard let bytes = socket.receive(), !bytes.isEmpty else {
                        throw TestFailure("a connection was closed instead of answered")
                    }
                    message += bytes
                }
                return String(decoding: message.dropLast(), as: UTF8.self)
            }
        }
    }

    /// Reads all connections until each has received a message that contains `text`. Returns how many
    /// messages each connection received, including that one.
    public func countMessages(until text: String, within limit: Duration = .patience) async throws
        -> [Int]
    {
        try await offPool { [sockets] in
            let deadline = ContinuousClock.now + limit
            var counters = sockets.map { MessageCounter($0, until: text) }
            while counters.contains(where: { !$0.isOver }) {
                guard ContinuousClock.now < deadline else {
                    throw TestFailure.timedOut("'\(text)' on every connection", after: limit)
                }
                try MessageCounter.wait(&counters)
            }
            return counters.map(\.messages)
        }
    }
}

/// Counts the messages on one connection of a group.
private struct MessageCounter {
    private let socket: Socket
    private let end: String
    /// The beginning of a message that is not complete yet.
    private var rest: [UInt8] = []
    private(set) var messages = 0
    private(set) var isOver = false

    init(_ socket: Socket, until end: String) {
        self.socket = socket
        self.end = end
    }

    /// Reads every connection that has data, or waits for a moment. poll(2).
    static func wait(_ counters: inout [MessageCounter]) throws {
        var entries = counters.map {
            pollfd(fd: $0.isOver ? -1 : $0.socket.descriptor, events: Int16(POLLIN), revents: 0)
        }
        guard poll(&entries, nfds_t(entries.count), 100) > 0 else { return }
        for (index, entry) in entries.enumerated() where entry.revents != 0 {
            try counters[index].take()
        }
    }

    private mutating func take() throws {
        guard let bytes = socket.receive(), !bytes.isEmpty else {
            throw TestFailure("a connection of a group was closed")
        }
        rest += bytes
        while !isOver, let length = rest.firstIndex(of: 0) {
            messages += 1
            // The message's own NUL terminates the string. strstr(3).
            isOver = rest.withUnsafeBytes { bytes in
                strstr(bytes.assumingMemoryBound(to: CChar.self).baseAddress!, end) != nil
            }
            rest.removeFirst(length + 1)
        }
    }
}
