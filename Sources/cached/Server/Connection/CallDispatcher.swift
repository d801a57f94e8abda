import CacheCore
import CacheFetching
import CacheKey
import CacheWire
import NIOCore
import NIOPosix

/// Answers the calls of one connection, one after the other. Used on the event loop only.
///
/// The dispatcher decides where a call runs. The event loop answers short calls itself. A call that names
/// many URLs or reads files would delay all other clients, so a thread of the pool answers it; the calls behind
/// it wait. The files in `Methods` know how each method is answered.
///
/// A call ends the stream that runs on its connection. A new `Fetch` or `Watch` takes over from the old stream:
/// the old one's place in the cache and its subscription go only when the new ones exist, so a download that
/// both name continues, and no change of it is lost.
final class CallDispatcher {
    unowned let connection: ClientConnection
    let server: ServerContext
    /// The connection's identity in the cache, which shares its download slots fairly between clients.
    let client: ClientID
    /// The call that is not completely answered yet.
    var running: RunningCall?
    /// Sends the changes of the running stream. It outlives its call until the next stream has taken over.
    var updates: UpdateStream?
    /// Whether the client has made a call that it may not make.
    var hasRefused = false
    /// The long call that waits for a thread.
    var waiting: WaitingMessage?
    /// Bytes that the daemon holds for the call that is being answered.
    private(set) var heldBytes = 0
    /// Outcomes that have arrived while the images of the running `Fetch` are being changed; `nil` at other times.
    var lateOutcomes: [Outcome]?

    init(
        for connection: ClientConnection, _ server: ServerContext, _ client: ClientID
    ) {
        self.connection = connection
        self.server = server
        self.client = client
    }

    var isRunning: Bool { running != nil }

    /// Whether the next call can be answered now. A running stream is no obstacle, because that call ends it.
    var canTakeCall: Bool { running?.isStream ?? true }

    // MARK: Calls

    /// Answers a message: a plain `Status` straight from its bytes, any other call after decoding it.
    func answer(_ message: ByteBuffer) {
        let isLong = IncomingCall.isLong(message)
        if !isLong, running == nil, answerStatus(message) { return }
        let ended = takeStream()
        guard !isLong else { return wait(for: message, ending: ended) }
        let call = message.withUnsafeReadableBytes { IncomingCall.decode($0) }
        dispatch(call, isLong: false, ending: ended)
    }

    /// Decodes a long message on another thread. It counts against its user until then.
    private func wait(for message: ByteBuffer, ending ended: RunningCall?) {
        let waiting = WaitingMessage(message)
        self.waiting = waiting
        perform(offLoop: true) { _, _ in
            let call = waiting.take()?.withUnsafeReadableBytes { IncomingCall.decode($0) }
            return .takes(call, from: waiting, ending: ended)
        }
        server.registry.holdsMore(connection)
    }

    /// Gives up the long call that waits for a thread.
    func giveUpWaiting() {
        _ = waiting.take()?.take()
    }

    /// `false` if the message is not a plain `Status`.
    private func answerStatus(_ message: ByteBuffer) -> Bool {
        message.withUnsafeReadableBytes { bytes in
            var keys: [CacheKey] = []
            guard let call = PlainCall(bytes), call.method == .status,
                call.count <= IncomingCall.urlLimit, server.cache.ignoredQueries.isEmpty,
                let places = call.keys(in: bytes, to: &keys)
            else { return false }
            call.writeReply(
                bytes, places, of: keys, server.cache.lookup(keys), from: server,
                to: &connection.output)
            return true
        }
    }

    func dispatch(
        _ decoded: Result<IncomingCall, WireError>, isLong: Bool, ending ended: RunningCall?
    ) {
        let call: IncomingCall
        do throws(WireError) {
            call = try decoded.get()
        } catch {
            release(ended)
            return connection.refuse(error)
        }
        do throws(WireError) {
            let isDraining = server.registry.isDraining
            let request = try call.request.get()
            try authorize(request, call.header)
            try hold(call, besides: ended)
            switch request {
            case .fetch where isDraining, .watch where isDraining, .verify where isDraining:
                throw .shuttingDown
            case .fetch(let parameters):
                fetch(call.header, parameters, isLong: isLong, replacing: ended)
            case .adjust(let parameters):
                adjust(call.header, parameters, isLong: isLong, of: ended)
            case .watch(let parameters) where call.header.isStream:
                watch(call.header, parameters, isLong: isLong, replacing: ended)
            default: end(ended, then: .answers(call.header, request, isLong: isLong))
            }
        } catch {
            end(ended, then: .refuses(call.header, error))
        }
    }

    /// Answers a call that begins no stream of changes.
    func answer(_ header: CallHeader, _ request: IncomingCall.Request, isLong: Bool) {
        do throws(WireError) {
            switch request {
            case .getInfo: reply(to: header, Reply(ServiceMethods.info))
            case .getInterfaceDescription(let parameters):
                reply(to: header, Reply(try ServiceMethods.describe(parameters)))
            case .status(let parameters):
                try StatusMethod.check(parameters)
                replyOnce(header, offLoop: isLong || parameters.readsFiles) {
                    StatusMethod.writeReply(parameters, from: $0, to: &$1)
                }
            case .open(let parameters): open(header, parameters)
            case .watch(let parameters):
                guard let urls = parameters.urls else { throw .expectedMore }
                replyOnce(header) { WatchMethod.writeState(of: urls, from: $0, to: &$1) }
            case .list(let parameters):
                replyOnce(header, try ListMethod(parameters).writeReply)
            case .stats: replyOnce(header, StatsMethod.writeReply)
            case .history(let parameters):
                replyOnce(header, try HistoryMethod(parameters).writeReply)
            case .remove(let parameters):
                let user = Peer.user(of: connection.peer)
                let method = try RemoveMethod(parameters)
                replyLater(header) { method.run(in: $0, for: user, $1) }
            case .pin(let parameters): replyLater(header) { PinMethod.run(parameters, in: $0, $1) }
            case .evict(let parameters): replyLater(header, try EvictMethod(parameters).run)
            case .pressure(let parameters):
                replyLater(header) { PressureMethod.run(parameters.level, in: $0, $1) }
            case .checkStore: replyOnce(header, CheckStoreMethod.writeReply)
            case .verify(let parameters): verify(header, parameters)
            case .where:
                var whereabouts = server.whereabouts
                let rules = server.cache.ignoredQueries
                whereabouts.ignoreQuery = rules.isEmpty ? nil : rules.text
                reply(to: header, Reply(whereabouts))
            case .fetch, .adjust:
                preconditionFailure("a Fetch or an Adjust reached answer(); dispatch() handles it")
            }
        } catch {
            reply(to: header, Reply<NoParameters>(error: error))
        }
    }

    func reply(to header: CallHeader, _ reply: some JSONWritable) {
        guard header.oneway != true else { return }
        server.replies.write(reply, to: &connection.output)
    }

    // MARK: Memory

    /// The daemon holds so many bytes for the call that is being answered.
    func hold(_ bytes: Int) {
        guard bytes != heldBytes else { return }
        heldBytes = bytes
        server.registry.holds(connection)
    }

    /// Fails if the user has no room for a call.
    private func hold(_ call: IncomingCall, besides ended: RunningCall?) throws(WireError) {
        let bytes = call.memory + (call.isAdjust ? ended?.memory ?? 0 : 0)
        let more = bytes - heldBytes
        guard call.urlMemory == 0 || more <= 0 || server.registry.admits(more, of: client.user)
        else { throw .tooMany(limit: ConnectionRegistry.memoryLimit / call.urlMemory) }
        hold(bytes)
    }

    // MARK: Threads

    /// Runs `make` on the event loop, or on a thread of the pool while the calls behind it wait. Sends the reply
    /// that `make` writes, and takes the next step.
    func perform(
        offLoop: Bool, failsOnShutdown: Bool = false,
        _ make: @escaping @Sendable (ServerContext, inout ByteBuffer) -> CallStep
    ) {
        guard offLoop else {
            running = .work(failsOnShutdown: failsOnShutdown)
            let step = make(server, &connection.output)
            running = nil
            return take(step)
        }
        submit(failsOnShutdown: failsOnShutdown) { server, finish in
            var reply = ByteBuffer()
            let step = make(server, &reply)
            finish(reply, step)
        }
    }

    /// Answers with one reply, which `write` makes and does nothing else. A `oneway` call gets none.
    private func replyOnce(
        _ header: CallHeader, offLoop: Bool = true,
        _ write: @escaping @Sendable (ServerContext, inout ByteBuffer) -> Void
    ) {
        guard header.oneway != true else { return }
        perform(offLoop: offLoop, failsOnShutdown: true) { server, output in
            write(server, &output)
            return .none
        }
    }

    /// Answers with one reply, which `start` passes to its second argument, once and from any thread. A `oneway` call
    /// gets none.
    private func replyLater(
        _ header: CallHeader,
        _ start:
            @escaping @Sendable (ServerContext, @escaping @Sendable (ByteBuffer) -> Void) -> Void
    ) {
        let isSilent = header.oneway == true
        submit(failsOnShutdown: !isSilent) { server, finish in
            start(server) { finish(isSilent ? ByteBuffer() : $0, .none) }
        }
    }

    /// Starts work on a thread of the pool; the calls behind it wait until the work has passed a reply and the next
    /// step to its second argument. The connection counts as closed if the call has failed because the daemon stops.
    func submit(
        failsOnShutdown: Bool,
        _ start:
            @escaping @Sendable (
                ServerContext, @escaping @Sendable (ByteBuffer, CallStep) -> Void
            ) -> Void
    ) {
        running = .work(failsOnShutdown: failsOnShutdown)
        let connection = NIOLoopBound(self.connection, eventLoop: server.loop)
        server.workers.submit(for: client) { [server] state in
            guard state == .active else { return }
            start(server) { reply, step in
                server.loop.execute {
                    let calls = connection.value.calls
                    guard case .work? = calls.running else { return calls.drop(step) }
                    // Sending can show that the client is gone.
                    connection.value.send(reply)
                    guard connection.value.isOpen else { return calls.drop(step) }
                    calls.running = nil
                    calls.take(step)
                    connection.value.resume()
                }
            }
        }
    }

    /// Answers with a descriptor. Without a reply there is none.
    private func open(_ header: CallHeader, _ parameters: Methods.Open.Parameters) {
        guard header.oneway != true else { return }
        perform(offLoop: true, failsOnShutdown: true) { server, output in
            guard let image = OpenMethod.run(parameters, in: server, replyingTo: &output) else {
                return .none
            }
            defer { output = ByteBuffer() }
            return .sends(image, output, parameters)
        }
    }

    /// Sends a reply with a descriptor; the calls behind it wait.
    func send(
        _ reply: ByteBuffer, with image: OpenImage, _ parameters: Methods.Open.Parameters
    ) {
        running = .work(failsOnShutdown: true)
        connection.send(reply, with: image) { [server] in
            OpenMethod.refusal(parameters, $0, from: server)
        } then: { [connection] in
            self.running = nil
            connection.resume()
        }
    }

    // MARK: The end of a call

    /// Takes the running stream out of its place, because another call has arrived. The cache keeps what it holds
    /// until ``release(_:)``.
    private func takeStream() -> RunningCall? {
        guard let stream = running, stream.isStream else { return nil }
        for waiter in stream.waiters { server.cache.keep(waiter) }
        running = nil
        return stream
    }

    /// Sends the last reply of a stream that has been taken out of its place, and drops what it held.
    func end(_ stream: RunningCall?, then next: CallStep) {
        stopUpdates()
        guard let stream else { return take(next) }
        stopWaiting(for: stream)
        perform(offLoop: stream.isLong) { server, output in
            stream.writeLastReply(from: server, to: &output)
            stream.cancel(in: server)
            return next
        }
    }

    /// Drops what a call holds in the cache; on another thread if that takes long.
    func release(_ call: RunningCall?) {
        guard let call else { return }
        stopWaiting(for: call)
        guard call.isLong else { return call.cancel(in: server) }
        server.workers.submit(for: client) { [server] _ in
            call.cancel(in: server)
            // If this is the last reference to all its URLs, this thread frees them.
            withExtendedLifetime(call) {}
        }
    }

    /// Takes no outcomes of a call any more.
    private func stopWaiting(for call: RunningCall) {
        for waiter in call.waiters { server.registry.stopWaiting(for: waiter) }
    }

    /// Ends the running call without a reply, because the client is gone or the connection closes.
    func abandon() {
        stopUpdates()
        guard let call = running else { return }
        if case .work = call { return }
        release(call)
        running = nil
    }

    /// The daemon stops: replies with an error, unless the call waits for downloads. The cache itself ends those.
    func shutDown() {
        switch running {
        case .fetch(let call) where !call.waiters.isEmpty: break
        case .fetch, .watch, .work(failsOnShutdown: true):
            server.replies.write(
                Reply<NoParameters>(error: .shuttingDown), to: &connection.output)
            running = nil
        default: break
        }
    }
}
