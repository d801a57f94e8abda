import Glibc

/// Very many connections to a Unix socket that say the same and listen together.
///
///     let crowd = try await ConnectionGroup(of: 10_000, at: daemon.socket, in: scope)
///     try await crowd.sendAll(#"{"method":"org.varlink.service.GetInfo"}"# + "\0")
///     let answers = try await crowd.receiveAll()      // one a member
public final class ConnectionGroup: Sendable {
    private let sockets: [Socket]

    /// How many there are.
    public var count: Int { sockets.count }

    /// Connects all; closed when the scope ends.
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

    /// Everybody sends `message`, which brings its own NUL.
    public func sendAll(_ message: String) async throws {
        let everybody = try await offPool { [sockets] in
            sockets.allSatisfy { $0.send(Array(message.utf8)) }
        }
        guard everybody else { throw TestFailure("a connection was closed while sending") }
    }

    /// The next message for each member, in the members' order, without their NULs.
    public func receiveAll(within limit: Duration = .patience) async throws -> [String] {
        try await offPool { [sockets] in
            let deadline = ContinuousClock.now + limit
            return try sockets.map { socket in
                var message: [UInt8] = []
                while message.last != 0 {
                    let left = deadline - ContinuousClock.now
                    guard left > .zero, socket.wait(orInput: true, within: left) != .timedOut else {
                        throw TestFailure.timedOut("the answers to a crowd", after: limit)
                    }
                    guard let bytes = socket.receive(), !bytes.isEmpty else {
                        throw TestFailure("a connection was closed instead of an answer")
                    }
                    message += bytes
                }
                return String(decoding: message.dropLast(), as: UTF8.self)
            }
        }
    }

    /// Listens to all until each has heard a message that contains `text`; how many messages each heard up
    /// to it.
    public func countMessages(until text: String, within limit: Duration = .patience) async throws
        -> [Int]
    {
        try await offPool { [sockets] in
            let deadline = ContinuousClock.now + limit
            var counters = sockets.map { MessageCounter($0, until: text) }
            while counters.contains(where: { !$0.isOver }) {
                guard ContinuousClock.now < deadline else {
                    throw TestFailure.timedOut("what a crowd waits for", after: limit)
                }
                try MessageCounter.wait(&counters)
            }
            return counters.map(\.messages)
        }
    }
}

/// What one member of a crowd has heard.
private struct MessageCounter {
    private let socket: Socket
    private let end: String
    /// Of a message that is not all there.
    private var rest: [UInt8] = []
    private(set) var messages = 0
    private(set) var isOver = false

    init(_ socket: Socket, until end: String) {
        self.socket = socket
        self.end = end
    }

    /// Takes what there is to hear for any of them, or waits for a moment. poll(2).
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
            throw TestFailure("a connection of a crowd was closed")
        }
        rest += bytes
        while !isOver, let length = rest.firstIndex(of: 0) {
            messages += 1
            // The NUL behind it makes it a string. strstr(3).
            isOver = rest.withUnsafeBytes { bytes in
                strstr(bytes.assumingMemoryBound(to: CChar.self).baseAddress!, end) != nil
            }
            rest.removeFirst(length + 1)
        }
    }
}

/// How many descriptors this process, and each child it starts, may have open.
public enum DescriptorLimit {
    /// Raises the soft limit to the hard one and returns it. getrlimit(2), `RLIMIT_NOFILE`.
    public static func raised() throws -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { throw TestFailure.syscall("getrlimit") }
        limit.rlim_cur = limit.rlim_max
        guard setrlimit(resource, &limit) == 0 else { throw TestFailure.syscall("setrlimit") }
        return Int(clamping: limit.rlim_cur)
    }
}
