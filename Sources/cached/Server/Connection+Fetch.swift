import CacheCore
import CacheKey
import CacheWire
import NIOCore
import NIOPosix

/// `Fetch`: interests that last as long as the call, and streams of what changes meanwhile.
extension Connection {
    func fetch(
        _ header: CallHeader, _ parameters: Methods.Fetch.Parameters
    ) throws(WireError) {
        guard !desk.hub.isDraining else { throw .shuttingDown }
        switch try desk.begin(header, parameters, for: client) {
        case .held(let targets):
            endStream()
            if header.oneway != true { desk.write(targets, to: &output) }
        case .waiting(let call):
            endStream()
            if call.isStream { desk.write(call.targets, continues: true, to: &output) }
            run(call)
        }
    }

    /// Waits for a call that is begun.
    func run(_ call: FetchCall) {
        running = .fetch(call)
        desk.hub.watch(call, for: self)
        desk.cache.complete(call.interest)
    }

    /// Ends the running stream, if there is one, with its last reply. What takes its place is begun
    /// already, so that what is in both is not disturbed.
    func endStream() {
        guard case .fetch(let call)? = running, call.isStream else { return }
        desk.write(call.targets, to: &output)
        endFetch()
    }

    /// Nobody waits for the running fetch any more.
    func endFetch() {
        guard case .fetch(let call)? = running else { return }
        running = nil
        desk.hub.unwatch(call, for: self)
        leave(call)
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
        guard case .fetch(let call)? = running, call.interest == outcome.interest else { return }
        desk.hub.unwatch(call, for: self)
        if outcome.failures.values.contains(where: { $0.kind == .shuttingDown }) {
            desk.replies.write(Reply<NoParameters>(error: .shuttingDown), to: &output)
        } else if call.isLong {
            return elsewhere { desk in
                var reply = ByteBuffer()
                desk.write(call, outcome, to: &reply)
                return reply
            } then: { connection, reply in
                connection.send(reply)
                connection.finished()
            }
        } else {
            desk.write(call, outcome, to: &output)
        }
        finished()
    }

    // MARK: The stream

    /// The URL under which this connection watches a key.
    func watchedURL(of key: CacheKey) -> String? {
        guard case .fetch(let call)? = running else { return nil }
        return call.watched[key]
    }

    /// A watched item changed; the newest state replaces one that was not sent yet.
    func changed(_ key: CacheKey, _ item: ByteBuffer) {
        guard case .fetch(var call)? = running, call.isStream else { return }
        // Held once only, it is changed in place.
        running = nil
        call.changes[key] = item
        running = .fetch(call)
    }

    /// Sends what changed, unless the client still has earlier answers to read.
    func sendChanges() {
        guard let context, context.channel.isWritable else { return }
        guard case .fetch(var call)? = running, !call.changes.isEmpty else { return }
        desk.replies.writeItems(of: call.changes.values, continues: true, to: &output) {
            item, output in
            output.writeImmutableBuffer(item)
        }
        call.changes = [:]
        running = .fetch(call)
        flush()
    }
}
