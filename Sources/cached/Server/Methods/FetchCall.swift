import CacheCore
import CacheKey
import CacheWire
import NIOCore

/// A `Fetch` that waits for downloads, and its replies. Any thread can write them.
struct FetchCall: Sendable {
    /// The cache's name for this waiter.
    let waiter: WaiterID
    let urls: [RequestedURL]
    /// The caller takes progress.
    let isStream: Bool
    /// No download has to be waited for.
    let isDecided: Bool
    /// The caller takes no image with another digest.
    let digest: ContentDigest?
    /// The keys that a stream subscribes to.
    let subject: Subscription.Subject

    /// Requests the downloads that a call names. Returns the call if it waits for them; otherwise writes its reply.
    /// Any thread can call it.
    ///
    /// - Parameter predecessor: the waiter of the stream that this call replaces.
    static func begin(
        _ header: CallHeader, _ parameters: Methods.Fetch.Parameters, for client: ClientID,
        after predecessor: WaiterID?, in server: ServerContext, replyingTo output: inout ByteBuffer
    ) throws(WireError) -> FetchCall? {
        let isSilent = header.oneway == true
        let waits = parameters.wait != false && !isSilent
        let digest = try digest(parameters.sha256)
        // The digest is compared in the reply, which this caller does not wait for.
        guard waits || digest == nil else {
            throw .invalidParameter(
                parameter: "sha256", reason: "it is compared only if the call waits for its reply")
        }
        let urls = parameters.urls.map { RequestedURL($0) }
        let wishes = urls.compactMap(\.valid)
        let options = FetchOptions(
            priority: .init(parameters.priority ?? .normal),
            isRefresh: parameters.refresh ?? false, client: client, predecessor: predecessor)
        guard !waits else {
            let waiter = server.cache.begin(wishes, options)
            return FetchCall(
                waiter: waiter, urls: urls, isStream: header.isStream,
                isDecided: server.cache.isSettled(waiter), digest: digest,
                subject: .named(header.isStream ? urls.byKey : [:]))
        }
        guard server.cache.fetchDetached(wishes, options) else {
            throw .tooMany(limit: server.cache.detachedLimit)
        }
        if !isSilent { server.writeItems(urls, to: &output) }
        return nil
    }

    private static func digest(_ text: String?) throws(WireError) -> ContentDigest? {
        guard let text else { return nil }
        guard let digest = ContentDigest(text) else {
            throw .invalidParameter(
                parameter: "sha256", reason: "it does not have 64 hexadecimal digits")
        }
        return digest
    }

    /// Whether it names so many URLs that a pass over all of them would delay other clients.
    var isLong: Bool { urls.count > 1000 }

    /// The first reply of a stream: all items.
    func writeItems(from server: ServerContext, to output: inout ByteBuffer) {
        write(urls, from: server, to: &output)
    }

    /// A reply of a stream about some changes.
    func writeChanges(
        _ changes: [EncodedChange], from server: ServerContext, to output: inout ByteBuffer
    ) {
        guard digest != nil, case .named(let urls) = subject else {
            return server.replies.writeItems(of: changes, continues: true, to: &output) {
                change, output in
                output.writeImmutableBuffer(change.item)
            }
        }
        // The items encoded for all streams have not been compared with the digest.
        let changed = changes.compactMap { urls[$0.key].map { RequestedURL($0) } }
        write(changed, from: server, to: &output)
    }

    private func write(
        _ urls: [RequestedURL], from server: ServerContext, to output: inout ByteBuffer
    ) {
        server.writeItems(urls, .announced, continues: true, digest: digest, to: &output)
    }

    /// The last reply of a stream that another call ends: all items as they are now.
    func writeLastReply(from server: ServerContext, to output: inout ByteBuffer) {
        guard isStream else { return }
        server.writeItems(urls, digest: digest, to: &output)
    }

    /// The last reply once all downloads have ended.
    func writeReply(_ outcome: Outcome, from server: ServerContext, to output: inout ByteBuffer) {
        guard !outcome.failures.values.contains(where: { $0.kind == .shuttingDown }) else {
            return server.replies.write(Reply<NoParameters>(error: .shuttingDown), to: &output)
        }
        server.writeItems(
            urls, isEnd: true, failures: outcome.failures, digest: digest, to: &output)
    }
}

extension CacheCore.Priority {
    fileprivate init(_ priority: CacheWire.Priority) {
        switch priority {
        case .background: self = .background
        case .normal: self = .normal
        case .visible: self = .visible
        }
    }
}
