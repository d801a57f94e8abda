import CacheCore
import CacheKey
import CacheWire
import NIOCore

/// `Fetch`: interests that last as long as the call, and streams of what changes meanwhile.
extension Connection {
    func fetch(
        _ header: CallHeader, _ parameters: Methods.Fetch.Parameters
    ) throws(WireError) {
        guard !desk.hub.isDraining else { throw .shuttingDown }
        try Self.admit(parameters.urls)
        let digest = try Self.digest(parameters.sha256)
        let targets = parameters.urls.map { Target($0) }
        let wishes = targets.compactMap(\.valid)
        let options = FetchOptions(
            priority: .init(parameters.priority ?? .normal),
            isRefresh: parameters.refresh ?? false, client: client)
        guard parameters.wait != false, header.oneway != true else {
            desk.cache.prefetch(wishes, options)
            endStream()
            if header.oneway != true { desk.write(targets, to: &output) }
            return
        }
        begin(
            FetchCall(
                interest: desk.cache.fetch(wishes, options), targets: targets,
                isStream: header.more == true, digest: digest,
                watched: header.more == true ? Self.watched(wishes) : [:]))
    }

    private static func digest(_ text: String?) throws(WireError) -> ContentDigest? {
        guard let text else { return nil }
        guard let digest = ContentDigest(text) else { throw .invalidParameter(parameter: "sha256") }
        return digest
    }

    private static func watched(_ wishes: [Wish]) -> [CacheKey: String] {
        Dictionary(wishes.map { ($0.key, $0.url.string) }, uniquingKeysWith: { first, _ in first })
    }

    /// Puts a new call in the place of the stream that runs, if one does. The new interest is there
    /// before the old one goes, so what is in both is not disturbed.
    private func begin(_ call: FetchCall) {
        endStream()
        running = .fetch(call)
        desk.hub.watch(call.watched.keys, for: self, interest: call.interest)
        if call.isStream { desk.write(call.targets, continues: true, to: &output) }
    }

    /// Ends the running stream, if there is one, with its last reply.
    func endStream() {
        guard case .fetch(let call)? = running, call.isStream else { return }
        desk.write(call.targets, to: &output)
        endFetch()
    }

    /// Nobody waits for the running fetch any more.
    func endFetch() {
        guard case .fetch(let call)? = running else { return }
        running = nil
        desk.hub.abandon(call.interest)
        desk.hub.unwatch(call.watched.keys, for: self)
    }

    /// All that was wanted is decided.
    func fetchDecided(_ outcome: Outcome) {
        guard case .fetch(let call)? = running, call.interest == outcome.interest else { return }
        desk.hub.unwatch(call.watched.keys, for: self)
        if outcome.failures.values.contains(where: { $0.kind == .shuttingDown }) {
            desk.replies.write(Reply<NoParameters>(error: .shuttingDown), to: &output)
        } else {
            desk.write(
                call.targets, isEnd: true, failures: outcome.failures, digest: call.digest,
                to: &output)
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
