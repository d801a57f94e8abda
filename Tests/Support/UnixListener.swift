/// A listening Unix socket that accepts connections one by one. unix(7).
public struct UnixListener: Sendable {
    public let path: String
    private let socket: Socket
    private let scope: TestScope

    /// Listens in its own temporary directory until the scope ends. listen(2).
    public init(in scope: TestScope) throws {
        try self.init(at: try TemporaryDirectory(in: scope).file("socket"), in: scope)
    }

    /// Listens at this path until the scope ends. The socket's file stays.
    public init(at path: String, in scope: TestScope) throws {
        (self.scope, self.path) = (scope, path)
        socket = try Socket.listen(onUnix: path)
        scope.atEnd { [socket] in socket.close() }
    }

    /// Accepts the next connection, which is closed when the scope ends. accept(2).
    public func accept(within limit: Duration = .patience) async throws -> Peer {
        let connection = try await offPool { [socket, path] in
            guard socket.wait(orInput: true, within: limit) != .timedOut else {
                throw TestFailure.timedOut("a connection to \(path)", after: limit)
            }
            guard let peer = socket.accept() else { throw TestFailure.syscall("accept", path) }
            return peer
        }
        scope.atEnd { connection.close() }
        return Peer(socket: connection)
    }

    /// The accepted side of a connection.
    public struct Peer: Sendable {
        fileprivate let socket: Socket

        /// Reads this many bytes, or fewer if the stream ends first.
        public func read(_ count: Int, within limit: Duration = .patience) async throws -> String {
            try await offPool { [socket] in
                var bytes: [UInt8] = []
                while bytes.count < count {
                    guard socket.wait(orInput: true, within: limit) != .timedOut else {
                        throw TestFailure.timedOut("\(count) bytes", after: limit)
                    }
                    guard let more = socket.receive(upTo: count - bytes.count), !more.isEmpty
                    else { break }
                    bytes += more
                }
                return String(decoding: bytes, as: UTF8.self)
            }
        }

        /// Ends both directions.
        public func close() {
            socket.shutdown()
        }

        public func write(_ text: String) async throws {
            let sent = try await offPool { [socket] in socket.send(Array(text.utf8)) }
            guard sent else { throw TestFailure("the connection was closed while sending") }
        }

        /// Ends both directions.
        public func shutdown() {
            socket.shutdown()
        }
    }
}
