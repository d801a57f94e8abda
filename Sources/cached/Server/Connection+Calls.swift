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
        do {
            dispatch(try IncomingCall(message))
        } catch {
            refuse(error)
        }
    }

    func dispatch(_ call: IncomingCall) {
        do {
            try answer(call.header, call.request.get())
        } catch {
            endStream()
            reply(to: call.header, Reply<NoParameters>(error: error))
        }
    }

    private func answer(
        _ header: CallHeader, _ request: IncomingCall.Request
    ) throws(WireError) {
        // A new stream takes over from the old one by itself, so that what is in both goes on.
        switch request {
        case .fetch(let parameters): return try fetch(header, parameters)
        case .watch(let parameters): return try watch(header, parameters)
        default: endStream()
        }
        switch request {
        case .fetch, .watch: break
        case .getInfo: reply(to: header, Reply(Self.info))
        case .getInterfaceDescription(let parameters): try describe(header, parameters)
        case .status(let parameters): try status(header, parameters)
        case .list(let parameters): try list(header, parameters)
        case .remove(let parameters): try remove(header, parameters)
        case .pin(let parameters): try pin(header, parameters)
        case .evict(let parameters): try evict(header, parameters)
        case .pressure(let parameters): pressure(header, parameters)
        case .stats: stats(header)
        case .verify(let parameters): try verify(header, parameters)
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
        guard parameters.details == true else {
            if header.oneway != true { desk.write(parameters.urls.map { Target($0) }, to: &output) }
            return
        }
        work(header) { desk, done in
            var reply = ByteBuffer()
            desk.write(parameters.urls.map { Target($0) }, details: true, to: &reply)
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
            selection.remove(from: desk.cache) { end in
                let reply = end.map { gone, failure in
                    Reply(
                        Methods.Remove.Reply(
                            entries: gone.entries, bytes: Int(gone.bytes),
                            failure: failure.map { .init($0) }))
                }
                done(desk.replies.message(reply ?? Reply(error: .shuttingDown)))
            }
        }
    }

    private func pin(
        _ header: CallHeader, _ parameters: Methods.Pin.Parameters
    ) throws(WireError) {
        try Self.admit(parameters.urls)
        work(header) { desk, done in
            let targets = parameters.urls.map { Target($0) }
            let keys = targets.compactMap { $0.valid?.key }
            desk.cache.pin(keys, parameters.pinned) { failures in
                // Not on the cache's own thread: there may be very many.
                desk.pool.submit { _ in
                    var reply = ByteBuffer()
                    desk.write(targets, details: true, failures: failures, to: &reply)
                    done(reply)
                }
            }
        }
    }

    private func evict(
        _ header: CallHeader, _ parameters: Methods.Evict.Parameters
    ) throws(WireError) {
        guard parameters.toBytes >= 0 else { throw .invalidParameter(parameter: "toBytes") }
        work(header) { desk, done in
            desk.cache.evict(toBytes: Int64(parameters.toBytes)) { evicted, failure in
                done(
                    desk.replies.message(
                        Reply(
                            Methods.Evict.Reply(
                                entries: evicted.entries, bytes: Int(evicted.bytes),
                                failure: failure.map { .init($0) }))))
            }
        }
    }

    private func pressure(_ header: CallHeader, _ parameters: Methods.Pressure.Parameters) {
        let level = parameters.level
        work(header) { desk, done in
            desk.pressure.requested(level)
            desk.relief.react(level, source: Methods.Pressure.name.rawValue) { relief in
                done(
                    desk.replies.message(
                        Reply(
                            Methods.Pressure.Reply(
                                entries: relief.evicted.entries, bytes: Int(relief.evicted.bytes),
                                failure: relief.failure.map { .init($0) }))))
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
        let isSilent = header.oneway == true
        running = .work(hearsOfEnd: !isSilent)
        let desk = desk
        let connection = NIOLoopBound(self, eventLoop: loop)
        desk.pool.submit { state in
            guard state == .active else { return }
            body(desk) { reply in
                loop.execute {
                    guard case .work? = connection.value.running else { return }
                    if !isSilent { connection.value.output.writeImmutableBuffer(reply) }
                    connection.value.finished()
                }
            }
        }
    }
}
