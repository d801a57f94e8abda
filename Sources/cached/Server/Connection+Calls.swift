import CacheCore
import CacheKey
import CacheWire
import NIOCore
import NIOPosix

/// The calls, one function each.
extension Connection {
    /// URLs one call may name. A message has room for millions of short ones, whose answers would take
    /// gigabytes.
    static let urlLimit = 200_000

    /// Answers one message: the hot call straight from its bytes, all others through the decoder.
    func answer(_ message: UnsafeRawBufferPointer) {
        if let call = StatusCall(message), call.urls.count <= Self.urlLimit {
            endStream()
            return desk.write(call, message, to: &output)
        }
        let header: CallHeader
        do {
            header = try Message.decode(from: message)
        } catch {
            return refuse(.invalidMessage(reason: Self.reason(error)))
        }
        do {
            try dispatch(header, message)
        } catch {
            endStream()
            reply(to: header, Reply<NoParameters>(error: error))
        }
    }

    private func dispatch(
        _ header: CallHeader, _ message: UnsafeRawBufferPointer
    ) throws(WireError) {
        guard let method = MethodName(rawValue: header.method) else {
            throw Self.unknown(header.method)
        }
        // A new stream takes over from the old one by itself, so that what is in both goes on.
        if method != .fetch, method != .watch { endStream() }
        switch method {
        case .getInfo: reply(to: header, Reply(Self.info))
        case .getInterfaceDescription: try describe(header, parameters(message))
        case .status: try status(header, parameters(message))
        case .fetch: try fetch(header, parameters(message))
        case .list: try list(header, parameters(message))
        case .remove: try remove(header, parameters(message))
        case .stats: stats(header)
        case .pin: try pin(header, parameters(message))
        case .evict: try evict(header, parameters(message))
        case .pressure: try pressure(header, parameters(message))
        case .watch: try watch(header, parameters(message))
        case .verify: try verify(header, parameters(message))
        }
    }

    /// The parameters of a call; a missing object counts as an empty one.
    private func parameters<Parameters: Codable & Sendable & Hashable>(
        _ message: UnsafeRawBufferPointer
    ) throws(WireError) -> Parameters {
        do {
            let call = try Message.decode(Call<Parameters>.self, from: message)
            if let parameters = call.parameters { return parameters }
            return try Message.decode(from: "{}".utf8)
        } catch {
            let reply = WireError(error)
            // Where nothing was given at all, it is still a parameter that is missing.
            guard case .invalidMessage = reply else { throw reply }
            guard case .keyNotFound(let key, _) = error else { throw reply }
            throw .invalidParameter(parameter: key.stringValue)
        }
    }

    /// Refuses a call that names more than can be answered.
    static func admit(_ urls: [String]) throws(WireError) {
        guard urls.count <= urlLimit else { throw .tooMany(limit: urlLimit) }
    }

    func reply(to header: CallHeader, _ reply: some Encodable) {
        guard header.oneway != true else { return }
        desk.replies.write(reply, to: &output)
    }

    private static func reason(_ error: DecodingError) -> String {
        switch error {
        case .dataCorrupted(let context): "not JSON: \(context.debugDescription)"
        case .keyNotFound(let key, _): "the member \(key.stringValue) is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "the member \(context.codingPath.last?.stringValue ?? "at the top") has the wrong type"
        @unknown default: "not a call"
        }
    }

    private static func unknown(_ method: String) -> WireError {
        let interface = method.split(separator: ".").dropLast().joined(separator: ".")
        return InterfaceDescription.served.contains(interface)
            ? .methodNotFound(method: method) : .interfaceNotFound(interface: interface)
    }

    // MARK: org.varlink.service

    private static let info = Methods.GetInfo.Reply(
        vendor: "cached", product: "cached", version: Version.current,
        url: "file:///usr/share/doc/cached", interfaces: InterfaceDescription.served)

    private func describe(
        _ header: CallHeader, _ parameters: Methods.GetInterfaceDescription.Parameters
    ) throws(WireError) {
        guard let text = InterfaceDescription.text(of: parameters.interface) else {
            throw .interfaceNotFound(interface: parameters.interface)
        }
        reply(to: header, Reply(Methods.GetInterfaceDescription.Reply(description: text)))
    }

    // MARK: io.cached.Cache

    private func status(
        _ header: CallHeader, _ parameters: Methods.Status.Parameters
    ) throws(WireError) {
        try Self.admit(parameters.urls)
        let targets = parameters.urls.map { Target($0) }
        guard parameters.details == true else {
            if header.oneway != true { desk.write(targets, to: &output) }
            return
        }
        work(header) { desk, done in
            var reply = ByteBuffer()
            desk.write(targets, details: true, to: &reply)
            done(reply)
        }
    }

    private func list(
        _ header: CallHeader, _ parameters: Methods.List.Parameters
    ) throws(WireError) {
        let page = try ListPage(parameters)
        work(header) { desk, done in done(page.reply(from: desk)) }
    }

    private func remove(
        _ header: CallHeader, _ parameters: Methods.Remove.Parameters
    ) throws(WireError) {
        try Self.admit(parameters.urls ?? [])
        let selection = try RemovalSelection(parameters)
        work(header) { desk, done in
            selection.remove(from: desk.cache) { removal in
                let reply = removal.map {
                    Reply(Methods.Remove.Reply(entries: $0.entries, bytes: Int($0.bytes)))
                }
                done(desk.replies.message(reply ?? Reply(error: .shuttingDown)))
            }
        }
    }

    private func pin(
        _ header: CallHeader, _ parameters: Methods.Pin.Parameters
    ) throws(WireError) {
        try Self.admit(parameters.urls)
        let targets = parameters.urls.map { Target($0) }
        work(header) { desk, done in
            let keys = targets.compactMap { $0.valid?.key }
            desk.cache.pin(keys, parameters.pinned) { failures in
                var reply = ByteBuffer()
                desk.write(targets, details: true, failures: failures, to: &reply)
                done(reply)
            }
        }
    }

    private func evict(
        _ header: CallHeader, _ parameters: Methods.Evict.Parameters
    ) throws(WireError) {
        guard parameters.toBytes >= 0 else { throw .invalidParameter(parameter: "toBytes") }
        work(header) { desk, done in
            desk.cache.evict(toBytes: Int64(parameters.toBytes)) { evicted in
                done(
                    desk.replies.message(
                        Reply(
                            Methods.Evict.Reply(
                                entries: evicted.entries, bytes: Int(evicted.bytes)))))
            }
        }
    }

    private func pressure(
        _ header: CallHeader, _ parameters: Methods.Pressure.Parameters
    ) throws(WireError) {
        let level = parameters.level
        work(header) { desk, done in
            desk.pressure.requested(level)
            desk.relief.react(level, source: Methods.Pressure.name.rawValue) { relief in
                done(
                    desk.replies.message(
                        Reply(
                            Methods.Pressure.Reply(
                                entries: relief.evicted.entries, bytes: Int(relief.evicted.bytes))))
                )
            }
        }
    }

    private func stats(_ header: CallHeader) {
        work(header) { desk, done in done(desk.replies.message(Reply(desk.statistics()))) }
    }

    /// Makes an answer on another thread; calls behind it wait. `body` hands it to its second argument,
    /// once and from any thread.
    func work(
        _ header: CallHeader,
        _ body: @escaping @Sendable (Desk, @escaping @Sendable (ByteBuffer) -> Void) -> Void
    ) {
        guard let loop = context?.eventLoop else { return }
        running = .work
        let desk = desk
        let isSilent = header.oneway == true
        let connection = NIOLoopBound(self, eventLoop: loop)
        desk.pool.submit { state in
            guard state == .active else { return }
            body(desk) { reply in
                loop.execute {
                    if !isSilent { connection.value.output.writeImmutableBuffer(reply) }
                    connection.value.finished()
                }
            }
        }
    }
}
