import Glibc

/// Very many connections to a Unix socket that say the same and listen together.
///
///     let crowd = try await Crowd(of: 10_000, at: daemon.socket, in: scope)
///     try await crowd.say(#"{"method":"org.varlink.service.GetInfo"}"# + "\0")
///     let answers = try await crowd.answers()      // one a member
public final class Crowd: Sendable {
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
    public func say(_ message: String) async throws {
        let everybody = try await offPool { [sockets] in
            sockets.allSatisfy { $0.send(Array(message.utf8)) }
        }
        guard everybody else { throw TestFailure("a connection was closed while sending") }
    }

    /// The next message for each member, in the members' order, without their NULs.
    public func answers(within limit: Duration = .patience) async throws -> [String] {
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
