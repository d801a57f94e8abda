import CacheCore
import CacheKey
import CacheWire
import NIOCore
import NIOPosix

/// `Fetch`: interests that last as long as the call.
extension Connection {
    func fetch(
        _ header: CallHeader, _ parameters: Methods.Fetch.Parameters
    ) throws(WireError) {
        guard !desk.hub.isDraining else { throw .shuttingDown }
        if let former = running?.interest { desk.cache.keep(former) }
        switch try desk.begin(header, parameters, for: client, after: running?.interest) {
        case .held(let targets):
            endStream()
            if header.oneway != true { desk.write(targets, to: &output) }
        case .waiting(let call):
            if call.isStream { subscribe(to: call.subject) }
            endStream(for: call.isStream ? subscription?.id : nil)
            if call.isStream { desk.write(call.targets, of: call, to: &output) }
            run(call)
        }
    }

    /// Waits for a call that is begun.
    func run(_ call: FetchCall) {
        running = .fetch(call)
        desk.hub.wait(for: call.interest, self)
        desk.cache.complete(call.interest)
    }

    /// Gives up the interest of a call.
    func leave(_ call: FetchCall) {
        guard call.isLong else { return desk.cache.leave(call.interest) }
        desk.pool.submit { [desk] _ in
            desk.cache.leave(call.interest)
            // Where it was the last to know all these URLs, they are freed here.
            withExtendedLifetime(call) {}
        }
    }

    /// All that was wanted is decided.
    func fetchDecided(_ outcome: Outcome) {
        guard case .fetch(let call)? = running, call.interest == outcome.waiter else { return }
        unsubscribe()
        if outcome.failures.values.contains(where: { $0.kind == .shuttingDown }) {
            desk.replies.write(Reply<NoParameters>(error: .shuttingDown), to: &output)
        } else if call.isLong {
            return elsewhere { desk, reply in
                desk.write(call, outcome, to: &reply)
            } then: { connection, _ in
                connection.finished()
            }
        } else {
            desk.write(call, outcome, to: &output)
        }
        finished()
    }
}
