import CacheCore
import CacheFetching
import CacheKey
import CacheValues
import CacheWire
import NIOCore

/// `Remove`: URLs, all that a filter chooses, or all; exactly one of the three.
enum RemoveMethod: Sendable {
    case urls([String], alsoInStore: Bool)
    case chosen(ListFilter)
    case all

    init(_ parameters: Methods.Remove.Parameters) throws(WireError) {
        let alsoInStore = parameters.store ?? false
        guard !alsoInStore || parameters.urls != nil else {
            throw .invalidParameter(
                parameter: "store", reason: "only images that urls names are removed from the store"
            )
        }
        switch (parameters.urls, try ListFilter(choosing: parameters), parameters.all ?? false) {
        case (let urls?, nil, false): self = .urls(urls, alsoInStore: alsoInStore)
        case (nil, let filter?, false): self = .chosen(filter)
        case (nil, nil, true): self = .all
        default:
            throw .invalidParameter(
                parameter: "urls", reason: "exactly one of urls, all and a filter is needed")
        }
    }

    /// Replies once the files are removed, or when the daemon stops before that.
    func run(
        in server: ServerContext, for user: UserID,
        _ reply: @escaping @Sendable (ByteBuffer) -> Void
    ) {
        let completion: Cache.RemovalEnd = { end in
            guard let end else {
                return reply(server.replies.message(Reply<RemovedEntries>(error: .shuttingDown)))
            }
            reply(server.replies.message(end.gone, end.failure))
        }
        switch self {
        case .urls(let urls, let alsoInStore):
            guard !alsoInStore || server.cache.deleteFromStore(keys(urls, in: server)) else {
                return completion((.nothing, .noStoreToWriteTo))
            }
            let keys = keys(urls, withSizes: true, in: server)
            server.cache.remove(keys, by: user, completion: completion)
        case .chosen(let filter):
            server.cache.removeAll(
                filter.choice(in: server.cache), sparesPinned: !filter.isAccount, by: user,
                completion: completion)
        case .all: server.cache.removeAll(by: user, completion: completion)
        }
    }

    /// A digest names all entries with its bytes. The store has no derived images.
    private func keys(
        _ urls: [String], withSizes: Bool = false, in server: ServerContext
    ) -> [CacheKey] {
        urls.flatMap { text -> [CacheKey] in
            if case .success(let digest)? = RequestedURL.digest(in: text) {
                return server.cache.keys(of: digest)
            }
            let url = server.named(text)
            return withSizes ? url.withSizes : url.key.map { [$0] } ?? []
        }
    }
}

extension CacheValues.Failure {
    fileprivate static let noStoreToWriteTo = CacheValues.Failure(
        .notCached,
        "nothing was removed: the daemon has no store that it may write to (CACHED_STORE, "
            + "CACHED_STORE_MODE); without --store the images are removed here")
}
