import CacheCore
import CacheKey
import NIOCore

/// One change as it is told, encoded once for all who hear of it.
struct Change {
    /// What became of a key.
    enum Standing {
        /// Cached, or on its way.
        case here
        /// Neither, and why is known.
        case failed
        /// Neither.
        case gone

        init(_ lookup: Lookup) {
            switch lookup {
            case .cached, .inFlight: self = .here
            case .missing(let failure): self = failure == nil ? .gone : .failed
            }
        }
    }

    let key: CacheKey
    let standing: Standing
    /// Whether it is not on its way, and why that failed is known; it may be here all the same.
    let hasFailed: Bool
    /// Whether it waits for its turn; `nil` unless it is on its way.
    let isQueued: Bool?
    /// The item; empty where nobody knows the URL any more.
    let item: ByteBuffer
}

extension ReplyWriter {
    /// Encodes what is to be told of keys, each once; `url` is asked for each.
    func changes(
        _ keys: [CacheKey], _ lookups: [Lookup], url: (CacheKey) -> String?
    ) -> [Change] {
        var text = ByteBuffer()
        var ends: [Int] = []
        for (key, lookup) in zip(keys, lookups) {
            // Where the file system keeps no attributes, nobody knows the URL of an entry.
            (url(key) ?? (lookup.isCached ? "" : nil))?.withUTF8Bytes {
                items.write(url: $0, key, lookup, tellsPin: true, to: &text)
            }
            ends.append(text.writerIndex)
        }
        // Slices share the text, now that it does not change any more.
        return zip(keys, lookups).enumerated().map { number, change in
            let start = number == 0 ? 0 : ends[number - 1]
            let item = text.getSlice(at: start, length: ends[number] - start)
            return Change(
                key: change.0, standing: Change.Standing(change.1),
                hasFailed: change.1.phase == nil && change.1.failure != nil,
                isQueued: change.1.phase.map { $0 == .queued }, item: item ?? ByteBuffer())
        }
    }

    /// A reply to `Watch`: what is here or failed as items, what is not here as removed.
    func write(_ changes: [Change], continues: Bool, to output: inout ByteBuffer) {
        let told = changes.filter { $0.standing != .gone && $0.item.readableBytes > 0 }
        let removed = changes.filter { $0.standing != .here }.map(\.key)
        writeItems(of: told, continues: continues, removed: removed, to: &output) {
            change, output in
            output.writeImmutableBuffer(change.item)
        }
    }
}
