import CacheCore
import CacheFetching
import CacheKey
import CacheValues
import CacheWire
import NIOCore

/// Calls that go on after their first reply, or wait for downloads: `Fetch`, `Watch` and `Verify`.
extension CallDispatcher {
    // MARK: Fetch

    /// Begins a `Fetch` in the place of the stream before it.
    func fetch(
        _ header: CallHeader, _ parameters: Methods.Fetch.Parameters, isLong: Bool,
        replacing replaced: RunningCall?
    ) {
        let client = client
        let isManager = isManager
        let begin: @Sendable (ServerContext, inout ByteBuffer) -> CallStep = { server, output in
            replaced?.writeLastReply(from: server, to: &output)
            do throws(WireError) {
                let call = try FetchCall.begin(
                    header, parameters, for: client, isManager: isManager,
                    after: replaced?.waiters ?? [], in: server, replyingTo: &output)
                return .fetches(call, isLong: isLong, replacing: replaced)
            } catch {
                return .refuses(header, error, replacing: replaced)
            }
        }
        guard parameters.wants?.contains(where: { $0.pinned == true }) == true else {
            return perform(offLoop: isLong || replaced?.isLong == true, begin)
        }
        submit(failsOnShutdown: true) { server, finish in
            var output = ByteBuffer()
            let step = begin(server, &output)
            guard case .fetches(let call, let isLong, let replaced) = step else {
                return finish(output, step)
            }
            let pins = FetchCall.pins(parameters.wants, in: server)
            server.cache.pin(pins, true) { [output, call] failures in
                var call = call
                call?.notPinned(failures)
                finish(output, .fetches(call, isLong: isLong, replacing: replaced))
            }
        }
    }

    /// Waits for a `Fetch`. One whose images are all decided has only its last reply. A stream subscribes before its
    /// first reply is written, so that it misses no change that comes after it.
    func begin(_ call: FetchCall, isLong: Bool) {
        guard call.isStream, !call.isDecided || call.follows else {
            stopUpdates()
            return wait(for: call)
        }
        let urls = call.wanted.urls
        subscribe(to: .named(urls.byKey))
        perform(offLoop: isLong) { server, output in
            call.writeItems(of: urls, from: server, to: &output)
            return .waits(call, isNew: true)
        }
    }

    func wait(for call: FetchCall) {
        running = .fetch(call)
        hold(call.wanted.memory)
        for waiter in call.waiters { server.registry.wait(for: waiter, self) }
        call.complete(in: server)
    }

    /// All downloads of the running `Fetch` that have one priority have ended.
    func fetchDecided(_ outcome: Outcome) {
        guard case .fetch(var call)? = running, call.waits(for: outcome.waiter) else {
            lateOutcomes?.append(outcome)
            return
        }
        call.decided(outcome)
        running = .fetch(call)
        let isShutdown = outcome.failures.values.contains { $0.kind == .shuttingDown }
        if call.follows, !isShutdown {
            reportFailures(outcome, of: call)
            // The changes report the images.
            return server.workers.submit(for: client) { [server] _ in
                server.cache.reported(outcome.waiter)
            }
        }
        guard call.isOver || isShutdown else { return }
        stopUpdates()
        for waiter in call.waiters { server.registry.stopWaiting(for: waiter) }
        endFetch(call, offLoop: call.isLong)
        connection.resume()
    }

    /// Writes the last reply, on another thread if it is long or a file has to be read for it.
    func endFetch(_ call: FetchCall, offLoop: Bool) {
        perform(offLoop: offLoop) { server, output in
            guard call.writeReply(from: server, mayReadFiles: offLoop, to: &output) else {
                return .explains(call)
            }
            call.leave(in: server)
            return .none
        }
    }

    /// Reports the images that failed to a stream that goes on, unless their state shows the failure: the stream has
    /// reported that already, or is about to.
    private func reportFailures(_ outcome: Outcome, of call: FetchCall) {
        for (key, failure) in outcome.failures { updates?.failed(key, failure) }
        let keys = Array(outcome.failures.keys)
        let failed = zip(keys, server.cache.lookup(keys, .announced)).compactMap { key, lookup in
            lookup.failure == nil ? call.wanted[key]?.url : nil
        }
        guard !failed.isEmpty else { return }
        call.writeItems(
            of: failed, failures: outcome.failures, from: server, to: &connection.output)
        connection.flush()
    }

    // MARK: Adjust

    /// Changes the images of the stream, which goes on.
    func adjust(
        _ header: CallHeader, _ parameters: Methods.Adjust.Parameters, isLong: Bool,
        of ended: RunningCall?
    ) {
        guard case .fetch(let call)? = ended else {
            return end(ended, then: .refuses(header, .noStream))
        }
        guard header.oneway == true || header.isStream else {
            return end(ended, then: .refuses(header, .expectedMore))
        }
        do throws(WireError) {
            try WantedSet.check(parameters.add)
        } catch {
            return end(ended, then: .refuses(header, error))
        }
        let endsFetch = header.isStream
        change(call, isLong: isLong) { call, server, output in
            if endsFetch { server.replies.writeItems(of: [String](), to: &output) { _, _ in } }
            return call.adjust(parameters, in: server)
        }
    }

    /// Fetches images of the running stream again, because what made them fail may have passed.
    func fetchAgain(_ keys: [CacheKey]) {
        guard case .fetch(let call)? = running else { return }
        for waiter in call.waiters { server.cache.keep(waiter) }
        change(call, isLong: keys.count > 1000) { call, server, _ in
            call.retry(keys, in: server)
            return FetchCall.Change()
        }
    }

    /// Changes a stream that has been taken out of its place, and puts it back. Outcomes that arrive in the meantime
    /// wait. The items of new images are written after the stream has subscribed to them.
    private func change(
        _ call: FetchCall, isLong: Bool,
        _ change:
            @escaping @Sendable (inout FetchCall, ServerContext, inout ByteBuffer) ->
            FetchCall.Change
    ) {
        lateOutcomes = []
        perform(offLoop: isLong) { server, output in
            var call = call
            let change = change(&call, server, &output)
            return .adjusts(call, change, isLong: isLong)
        }
    }

    // MARK: Watch

    /// Begins a stream of `Watch` in the place of the stream before it.
    func watch(
        _ header: CallHeader, _ parameters: Methods.Watch.Parameters, isLong: Bool,
        replacing replaced: RunningCall?
    ) {
        perform(offLoop: isLong || replaced?.isLong == true) { server, output in
            replaced?.writeLastReply(from: server, to: &output)
            do throws(WireError) {
                let (subject, snapshot) = try WatchMethod.begin(parameters, in: server)
                return .watches(
                    subject, snapshot, pressure: parameters.pressure == true, replacing: replaced)
            } catch {
                return .refuses(header, error, replacing: replaced)
            }
        }
    }

    // MARK: Verify

    func verify(_ header: CallHeader, _ parameters: Methods.Verify.Parameters) {
        let connection = NIOLoopBound(self.connection, eventLoop: server.loop)
        let call = VerifyCall(header, parameters, client, in: server) { verification, reply in
            connection.value.calls.verificationProgressed(verification, reply)
        } onEnd: { verification, reply in
            connection.value.calls.verificationEnded(verification, reply)
        }
        running = .verify(call)
    }

    private func verificationProgressed(
        _ verification: Verification, _ report: VerificationReport
    ) {
        guard case .verify(var call)? = running, call.verification === verification else { return }
        call.report = report
        running = .verify(call)
        guard call.isStream, !call.isSilent, connection.isWritable else { return }
        VerifyCall.write(report, continues: true, from: server, to: &connection.output)
        connection.flush()
    }

    private func verificationEnded(_ verification: Verification, _ reply: ByteBuffer) {
        guard case .verify(let call)? = running, call.verification === verification else { return }
        connection.send(reply)
        running = nil
        connection.resume()
    }

    // MARK: Changes

    /// Sends the changes of `subject` from now on, instead of those of the old subject. The new subscription begins
    /// before the old one ends, so a key that both name misses no change.
    func subscribe(to subject: Subscription.Subject) {
        let new = UpdateStream(for: connection, server, subject, succeeding: updates)
        stopUpdates()
        updates = new
    }

    /// Sends no changes any more.
    func stopUpdates() {
        updates?.stop()
        updates = nil
    }

    /// Sends the changes that have waited until the client read its replies.
    func sendUpdates() {
        updates?.sendMore()
    }

    /// Ends the stream because more has changed than the change log holds since the client read last.
    func streamFellBehind() {
        guard let stream = running else { return }
        stopUpdates()
        stream.writeLastReply(from: server, to: &connection.output)
        release(stream)
        running = nil
        connection.resume()
    }
}
