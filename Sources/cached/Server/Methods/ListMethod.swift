import CacheCore
import CacheKey
import CacheWire
import NIOCore

/// `List`: one page of entries.
struct ListMethod: Sendable {
    private let order: CacheCore.ListOrder
    private let isReversed: Bool
    private let limit: Int
    private let cursor: ListCursor?

    /// The largest number of items in a page. A page stays well below the 16 MiB of a message, however long its
    /// URLs are.
    static let maximum = 1000

    init(_ parameters: Methods.List.Parameters) throws(WireError) {
        let order = CacheCore.ListOrder(parameters.order ?? .recency)
        isReversed = parameters.reverse ?? false
        let limit = parameters.limit ?? Self.maximum
        guard limit > 0 else {
            throw .invalidParameter(parameter: "limit", reason: "it must be greater than 0")
        }
        self.limit = min(limit, Self.maximum)
        cursor = try parameters.after.map { text throws(WireError) in
            guard let cursor = ListCursor(text), cursor.order == order else {
                throw .invalidParameter(
                    parameter: "after",
                    reason: "it is not the after of a page in this order")
            }
            return cursor
        }
        self.order = order
    }

    /// Reads the page and the attributes of its files.
    func writeReply(from server: ServerContext, to output: inout ByteBuffer) {
        let entries = server.cache.list(
            order, isReversed: isReversed, limit: limit, after: cursor)
        let last = entries.count == limit ? entries.last : nil
        let after = last.map { ListCursor($0, in: order).description }
        server.replies.writeItems(of: entries, after: after, to: &output) { entry, output in
            let details = server.cache.details(of: entry.key)
            (details.url ?? "").withUTF8Bytes { url in
                server.replies.items.write(
                    url: url, entry.key, .cached(entry.facts), details: details, to: &output)
            }
        }
    }
}

extension CacheCore.ListOrder {
    fileprivate init(_ order: CacheWire.ListOrder) {
        switch order {
        case .recency: self = .recency
        case .size: self = .size
        case .age: self = .age
        }
    }
}
