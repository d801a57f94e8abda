import CacheCore
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
        perform(offLoop: isLong || replaced?.isLong == true) { server, output in
            replaced?.writeLastReply(from: server, to: &output)
            return Result { () throws(WireError) in
                try FetchCall.begin(
                    header, parameters, for: client, after: replaced?.waiter, in: server,
                    replyingTo: &output)
            }
        } then: { calls, begun in
            switch begun {
            case .success(let call?): calls.begin(call, isLong: isLong)
            case .success(nil): calls.stopUpdates()
            case .failure(let error):
                calls.stopUpdates()
                calls.reply(to: header, Reply<NoParameters>(error: error))
            }
            calls.release(replaced)
        } ifClosed: { calls, begun in
            if case .success(let call?) = begun { calls.release(.fetch(call)) }
            calls.release(replaced)
        }
    }

    /// Waits for a `Fetch`. One whose images are all decided has only its last reply. A stream subscribes before its first reply is written, so that it misses no change
    /// that comes after it.
    private func begin(_ call: FetchCall, isLong: Bool) {
        guard call.isStream, !call.isDecided else {
            stopUpdates()
            return wait(for: call)
        }
        subscribe(to: call.subject)
        perform(offLoop: isLong) { server, output in
            call.writeItems(from: server, to: &output)
        } then: { calls, _ in
            calls.wait(for: call)
            calls.updates?.start(.items(of: call))
        } ifClosed: { calls, _ in
            calls.release(.fetch(call))
        }
    }

    private func wait(for call: FetchCall) {
        running = .fetch(call)
        server.registry.wait(for: call.waiter, self)
        server.cache.complete(call.waiter)
    }

    /// All downloads of the running `Fetch` have ended.
    func fetchDecided(_ outcome: Outcome) {
        guard case .fetch(let call)? = running, call.waiter == outcome.waiter else { return }
        stopUpdates()
        perform(offLoop: call.isLong) { server, output in
            call.writeReply(outcome, from: server, to: &output)
        }
        connection.resume()
    }

    // MARK: Watch

    /// Begins a stream of `Watch` in the place of the stream before it.
    func watch(
        _ header: CallHeader, _ parameters: Methods.Watch.Parameters, isLong: Bool,
        replacing replaced: RunningCall?
    ) {
        perform(offLoop: isLong || replaced?.isLong == true) { server, output in
            replaced?.writeLastReply(from: server, to: &output)
            return Result { () throws(WireError) in try WatchMethod.begin(parameters) }
        } then: { calls, begun in
            switch begun {
            case .success((let subject, let snapshot)):
                calls.subscribe(to: subject)
                calls.running = .watch
                if parameters.pressure == true { calls.updates?.watchPressure() }
                calls.updates?.start(.changes, after: snapshot)
            case .failure(let error):
                calls.stopUpdates()
                calls.reply(to: header, Reply<NoParameters>(error: error))
            }
            calls.release(replaced)
        } ifClosed: { calls, _ in
            calls.release(replaced)
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
    private func subscribe(to subject: Subscription.Subject) {
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
        if let waiter = stream.waiter { server.registry.stopWaiting(for: waiter) }
        release(stream)
        running = nil
        connection.resume()
    }
}
