/// One connection of a scripted origin. Reads requests and performs their scripts until either side
/// closes. Runs on its own thread and blocks it.
struct OriginConnection {
    /// The state after a step.
    private enum Next {
        case goOn, close, clientLeft
    }

    let origin: ScriptedOrigin
    let number: Int
    let socket: Socket

    /// Serves until the connection is finished; the caller closes the socket.
    func serve() {
        var unread: [UInt8] = []
        while let request = nextRequest(&unread) {
            let script = answer(to: request)
            let next = perform(script, for: request)
            origin.state.change { state in
                state.requests[request.id].outcome = next == .clientLeft ? .abandoned : .answered
            }
            guard next == .goOn, request.headers["Connection"]?.lowercased() != "close" else {
                return
            }
        }
    }

    /// Reads and records a request, and discards its body; `nil` if the client sends no more.
    private func nextRequest(_ unread: inout [UInt8]) -> OriginRequest? {
        let end = Array("\r\n\r\n".utf8)
        var headLength = unread.firstRange(of: end)?.lowerBound
        while headLength == nil {
            guard let bytes = socket.receive(), !bytes.isEmpty else { return nil }
            unread += bytes
            headLength = unread.firstRange(of: end)?.lowerBound
        }
        let head = String(decoding: unread[..<headLength!], as: UTF8.self)
        unread.removeFirst(headLength! + end.count)
        let request: OriginRequest? = origin.state.change { state in
            let id = state.requests.count
            guard let request = OriginRequest(head: head, id: id, connection: number) else {
                return nil
            }
            state.requests.append(request)
            return request
        }
        guard let request else { return nil }
        let bodyLength = request.headers["Content-Length"].flatMap { Int($0) } ?? 0
        while unread.count < bodyLength {
            guard let bytes = socket.receive(), !bytes.isEmpty else { return nil }
            unread += bytes
        }
        unread.removeFirst(bodyLength)
        return request
    }

    private func answer(to request: OriginRequest) -> OriginScript {
        let (routes, fallback) = origin.state.read { ($0.routes, $0.fallback) }
        let responder = routes[request.target] ?? routes[request.path] ?? fallback
        return responder(request)
    }

    private func perform(_ script: OriginScript, for request: OriginRequest) -> Next {
        for step in script.steps {
            let next = perform(step)
            guard next == .goOn else { return next }
            if case .head = step, request.method == "HEAD" { return .goOn }
        }
        return .goOn
    }

    private func perform(_ step: OriginScript.Step) -> Next {
        switch step {
        case .head(let status, let headers):
            return send(Array("HTTP/1.1 \(status) Scripted\r\n\(headers)\r\n".utf8))
        case .bytes(let bytes):
            return send(bytes)
        case .chunk(let bytes):
            let size = String(bytes.count, radix: 16)
            return send(Array("\(size)\r\n".utf8) + bytes + Array("\r\n".utf8))
        case .wait(let gate):
            return gate.pass(socket) ? .goOn : .clientLeft
        case .trickle(let bytes, let bytesPerSecond):
            return trickle(bytes, bytesPerSecond)
        case .endless(let bytes):
            while send(bytes) == .goOn {}
            return .clientLeft
        case .tunnel(let port):
            return tunnel(to: port)
        case .close:
            return .close
        case .reset:
            socket.resetOnClose()
            return .close
        }
    }

    private func send(_ bytes: [UInt8]) -> Next {
        socket.send(bytes) ? .goOn : .clientLeft
    }

    /// Keeps the average rate even if one slice was late. If the whole machine stalled, it catches up by
    /// at most five slices at once.
    private func trickle(_ bytes: [UInt8], _ bytesPerSecond: Int) -> Next {
        let slice = Duration.milliseconds(20)
        var start = ContinuousClock.now
        var sent = 0
        while sent < bytes.count {
            let sentAt = start + .seconds(Double(sent) / Double(bytesPerSecond))
            start += max(.zero, ContinuousClock.now - sentAt - slice * 4)
            let due = ContinuousClock.now - start + slice
            let allowed = Int(Double(bytesPerSecond) * (due / .seconds(1)))
            let end = min(max(allowed, sent), bytes.count)
            guard socket.send(bytes[sent..<end]) else { return .clientLeft }
            sent = end
            if sent < bytes.count, socket.wait(within: slice) == .closedByPeer {
                return .clientLeft
            }
        }
        return .goOn
    }

    private func tunnel(to port: Int) -> Next {
        guard let other = try? Socket.connect(toLoopback: port) else { return .close }
        defer { other.close() }
        while true {
            let isComing = socket.wait(orInput: true, other: other.descriptor) == .readable
            let (from, to) = isComing ? (socket, other) : (other, socket)
            guard let bytes = from.receive(), !bytes.isEmpty, to.send(bytes) else { return .close }
        }
    }
}
