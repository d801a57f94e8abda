import Foundation

/// A real HTTP/1.1 server on 127.0.0.1 that performs scripts and records the requests it receives.
///
///     let origin = try ScriptedOrigin(in: scope)
///     origin.route("/a.png", .cut(image, after: 1000))
///     …
///     #expect(origin.requests("/a.png").count == 1)
///
/// Each connection has its own thread and serves any number of requests. A path without a route is
/// answered with 404, unless ``otherwise(_:)`` says otherwise. The server ends with its scope, even while its scripts wait.
public final class ScriptedOrigin: Sendable {
    public typealias Responder = @Sendable (OriginRequest) -> OriginScript

    struct State: Sendable {
        var routes: [String: Responder] = [:]
        var fallback: Responder = { _ in .answer(404, headers: ["Content-Type": "text/plain"]) }
        /// Every request, at the index of its id.
        var requests: [OriginRequest] = []
        /// The connections still open, by number.
        var open: [Int: Socket] = [:]
        /// All connections ever accepted.
        var accepted = 0
        var isStopping = false
        /// Whether the accepting thread still runs.
        var isAccepting = true
    }

    public let port: Int
    let state = Monitor(State())
    private let listening: Socket

    /// - Parameter everywhere: listens on every address of this machine instead of only 127.0.0.1.
    public convenience init(everywhere: Bool = false, in scope: TestScope) throws {
        try self.init(
            everywhere ? Socket.listenEverywhere() : Socket.listenOnLoopback(), in: scope)
    }

    /// Listens on 127.0.0.2, on the same port as another origin.
    public convenience init(beside other: ScriptedOrigin, in scope: TestScope) throws {
        try self.init(Socket.listenOnLoopback(host: 2, port: other.port), in: scope)
    }

    private init(_ listener: (socket: Socket, port: Int), in scope: TestScope) throws {
        (listening, port) = listener
        Thread.detachNewThread { [self] in acceptConnections() }
        scope.atEnd { [self] in try await stop() }
    }

    /// The URL of a path on this server.
    public func url(_ path: String, host: String = "127.0.0.1") -> String {
        "http://\(host):\(port)\(path)"
    }

    /// Sets the response for a path. A request with a query is looked up with its query first, then
    /// without it.
    public func route(_ path: String, _ script: OriginScript) {
        route(path) { _ in script }
    }

    /// Sets the response for a path, computed for each request.
    public func route(_ path: String, responder: @escaping Responder) {
        state.change { $0.routes[path] = responder }
    }

    /// Sets the response for all paths without a route.
    public func otherwise(_ script: OriginScript) {
        otherwise { _ in script }
    }

    /// Sets the response for all paths without a route, computed for each request.
    public func otherwise(responder: @escaping Responder) {
        state.change { $0.fallback = responder }
    }

    /// Every request so far, or those for one path (or one target with its query).
    public func requests(_ path: String? = nil) -> [OriginRequest] {
        state.read { state in state.requests.filter { $0.isFor(path) } }
    }

    /// The number of connections accepted so far, including closed ones.
    public var connectionsAccepted: Int { state.read(\.accepted) }

    /// Waits for the `count`th request for a path, and returns it.
    @discardableResult
    public func waitForRequest(
        _ path: String, count: Int = 1, within limit: Duration = .patience
    ) async throws -> OriginRequest {
        try await state.wait(for: "request \(count) for \(path)", within: limit) { state in
            state.requests.filter { $0.isFor(path) }.dropFirst(count - 1).first
        }
    }

    /// Waits until the responses to `count` requests for a path have this outcome.
    public func waitForOutcome(
        _ outcome: OriginRequest.Outcome, of path: String, count: Int = 1,
        within limit: Duration = .patience
    ) async throws {
        try await state.wait(for: "\(path) to be \(outcome)", within: limit) { state in
            let ended = state.requests.filter { $0.isFor(path) && $0.outcome == outcome }
            return ended.count >= count ? () : nil
        }
    }

    /// Waits until this many connections are open, including idle ones.
    public func waitForConnections(open count: Int, within limit: Duration = .patience) async throws
    {
        try await state.wait(for: "\(count) open connections", within: limit) { state in
            state.open.count == count ? () : nil
        }
    }

    /// Closes the port and every connection, and waits until all threads have ended.
    public func stop() async throws {
        state.change { state in
            state.isStopping = true
            listening.shutdown()
            for socket in state.open.values { socket.shutdown() }
        }
        try await state.wait(for: "the origin's end", within: .patience) { state in
            state.open.isEmpty && !state.isAccepting ? () : nil
        }
    }

    private func acceptConnections() {
        while let socket = listening.accept() {
            let number: Int? = state.change { state in
                guard !state.isStopping else { return nil }
                defer { state.accepted += 1 }
                state.open[state.accepted] = socket
                return state.accepted
            }
            guard let number else { socket.close(); break }
            Thread.detachNewThread { [self] in
                OriginConnection(origin: self, number: number, socket: socket).serve()
                // Closed under the lock, so that `stop` never shuts down a descriptor that was reused.
                state.change { state in
                    state.open[number] = nil
                    socket.close()
                }
            }
        }
        state.change { state in
            listening.close()
            state.isAccepting = false
        }
    }
}

extension OriginRequest {
    fileprivate func isFor(_ path: String?) -> Bool {
        path == nil || path == target || path == self.path
    }
}
