import CacheCore
import CacheWire
import NIOCore
import NIOPosix

/// Calls that name very many URLs: taken apart, looked up and answered on another thread, so that they
/// hold up nobody else's. Calls behind them wait.
extension Connection {
    /// What another thread made of a long message.
    private enum Answer: Sendable {
        case reply(ByteBuffer)
        /// A `Fetch` that is begun.
        case fetch(FetchCall)
        /// A `Watch` of these.
        case watch([Target])
        /// It is for the event loop after all: of another kind, or wrong.
        case call(IncomingCall)
        case noCall(WireError)
    }

    /// Bytes of a call that the event loop takes on by itself: some hundred URLs, about 2 ms.
    private static let shortMessage = 32 * 1024
    /// The same for the hot call, which takes a tenth of the time, however short its URLs are.
    private static let shortStatus = (bytes: 256 * 1024, urls: 4096)

    /// Whether a message, or the last reply to the stream it ends, would hold up the event loop.
    func isLong(_ message: ByteBuffer) -> Bool {
        if case .fetch(let call)? = running, call.isStream, call.isLong { return true }
        return Self.isLong(message)
    }

    /// Whether a message by itself would.
    static func isLong(_ message: ByteBuffer) -> Bool {
        guard message.readableBytes > shortMessage else { return false }
        guard message.readableBytes <= shortStatus.bytes,
            let call = message.withUnsafeReadableBytes({ StatusCall($0) })
        else { return true }
        return call.urls.count > shortStatus.urls
    }

    /// Answers a long message. The interest and the subscription of the stream it ends go once its own are
    /// there, so that what is in both is not disturbed.
    func answerElsewhere(_ message: ByteBuffer) {
        var ended: FetchCall?
        if case .fetch(let call)? = running {
            desk.hub.stopWaiting(for: call.interest)
            desk.cache.keep(call.interest)
            ended = call
        } else {
            writeLastReply()
            if case .verify(let call)? = running { call.verification.cancel() }
        }
        let (client, isDraining, stream) = (client, desk.hub.isDraining, ended)
        elsewhere { desk, lastReply in
            if let stream { desk.write(stream.targets, digest: stream.digest, to: &lastReply) }
            return message.withUnsafeReadableBytes {
                Self.answer(
                    $0, desk, client, after: stream?.interest, isDraining: isDraining)
            }
        } then: { connection, answer in
            connection.running = nil
            connection.take(answer)
            if let stream { connection.leave(stream) }
            connection.process()
            connection.flush()
        } orGone: { connection, answer in
            if case .fetch(let call) = answer { connection.leave(call) }
            if let stream { connection.leave(stream) }
        }
    }

    private func take(_ answer: Answer) {
        switch answer {
        case .reply(let reply):
            unsubscribe()
            send(reply)
        case .fetch(let call) where call.isStream: begin(call)
        case .fetch(let call):
            unsubscribe()
            run(call)
        case .watch(let targets): watch(targets)
        case .call(let call):
            let former = subscription?.id
            dispatch(call)
            // No stream of its own has taken over.
            if subscription?.id == former { unsubscribe() }
        case .noCall(let error): refuse(error)
        }
    }

    /// Begins a stream: from here on changes are noted, to be told behind the first reply.
    private func begin(_ call: FetchCall) {
        subscribe(to: call.subject)
        guard context != nil else { return leave(call) }
        elsewhere { desk, first in
            desk.write(call.targets, of: call, to: &first)
        } then: { connection, _ in
            connection.run(call)
            connection.tellMore()
            connection.process()
            connection.flush()
        } orGone: { connection, _ in
            connection.leave(call)
        }
    }

    private static func answer(
        _ message: UnsafeRawBufferPointer, _ desk: Desk, _ client: ClientID,
        after former: WaiterID?, isDraining: Bool
    ) -> Answer {
        var reply = ByteBuffer()
        if let call = StatusCall(message), call.urls.count <= urlLimit {
            desk.write(call, message, to: &reply)
            return .reply(reply)
        }
        let call: IncomingCall
        do {
            call = try IncomingCall(message)
        } catch {
            return .noCall(error)
        }
        switch call.request {
        case .success(.status(let parameters)) where parameters.urls.count <= urlLimit:
            if call.header.oneway != true {
                let targets = parameters.urls.map { Target($0) }
                desk.write(targets, details: parameters.details == true, to: &reply)
            }
            return .reply(reply)
        case .success(.fetch(let parameters)) where !isDraining:
            do {
                switch try desk.begin(call.header, parameters, for: client, after: former) {
                case .waiting(let begun): return .fetch(begun)
                case .held(let targets):
                    if call.header.oneway != true { desk.write(targets, to: &reply) }
                    return .reply(reply)
                }
            } catch {
                return .call(IncomingCall(header: call.header, request: .failure(error)))
            }
        case .success(.watch(let parameters)) where !isDraining:
            guard let urls = watched(call.header, parameters) else { return .call(call) }
            return .watch(urls.map { Target($0) })
        default:
            return .call(call)
        }
    }

    /// What a stream of `Watch` names, if it is one of names and in order.
    private static func watched(
        _ header: CallHeader, _ parameters: Methods.Watch.Parameters
    ) -> [String]? {
        guard header.more == true, header.oneway != true, parameters.downloads != true,
            let urls = parameters.urls, urls.count <= urlLimit
        else { return nil }
        return urls
    }

    /// Makes something on another thread, sends the reply it wrote, if any, and takes it in here; calls
    /// behind it wait. `orGone` is called in place of `then` if the connection is closed by then; sending
    /// may be what shows that nobody is there any more.
    func elsewhere<Result: Sendable>(
        _ make: @escaping @Sendable (Desk, inout ByteBuffer) -> Result,
        then: @escaping @Sendable (Connection, Result) -> Void,
        orGone: @escaping @Sendable (Connection, Result) -> Void = { _, _ in }
    ) {
        guard let loop = context?.eventLoop else { return }
        running = .work(hearsOfEnd: false)
        let desk = desk
        let connection = NIOLoopBound(self, eventLoop: loop)
        desk.pool.submit { state in
            guard state == .active else { return }
            var reply = ByteBuffer()
            let result = make(desk, &reply)
            loop.execute { [reply] in
                connection.value.send(reply)
                let isGone = connection.value.context == nil
                (isGone ? orGone : then)(connection.value, result)
            }
        }
    }
}
