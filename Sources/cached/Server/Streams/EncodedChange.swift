import CacheCore
import CacheFetching
import CacheKey
import CacheValues
import NIOCore

/// A change of one key, encoded once for all streams that report it.
struct EncodedChange {
    enum State {
        /// Cached or in flight.
        case present
        /// Neither, and the reason is known.
        case failed
        /// Neither.
        case absent

        init(_ lookup: Lookup) {
            switch lookup {
            case .cached, .inFlight: self = .present
            case .missing(let failure): self = failure == nil ? .absent : .failed
            }
        }
    }

    let key: CacheKey
    let state: State
    /// Whether the last download of the key failed and none is in flight. The key can be cached all the same.
    let hasFailed: Bool
    /// Why the last download failed, if the key is not cached and none is in flight.
    let failure: Failure?
    /// Whether its download waits in the queue; `nil` if none is in flight.
    let isQueued: Bool?
    /// The item as JSON; empty if the URL is not known any more.
    let item: ByteBuffer
}

extension Lookup {
    /// Why the image is missing, if that is known.
    fileprivate var missingFailure: Failure? {
        guard case .missing(let failure) = self else { return nil }
        return failure
    }
}

extension ReplyWriter {
    /// Encodes the state of each key; `url` is called once for each.
    func changes(
        _ keys: [CacheKey], _ lookups: [Lookup], url: (CacheKey) -> String?
    ) -> [EncodedChange] {
        var text = ByteBuffer()
        var ends: [Int] = []
        for (key, lookup) in zip(keys, lookups) {
            // On a file system without attributes the URL of an entry is not known.
            (url(key) ?? (lookup.isCached ? "" : nil))?.withUTF8Bytes {
                items.write(url: $0, key, lookup, withPin: true, to: &text)
            }
            ends.append(text.writerIndex)
        }
        // The slices share the text, which does not change any more.
        return zip(keys, lookups).enumerated().map { number, change in
            let start = number == 0 ? 0 : ends[number - 1]
            let item = text.getSlice(at: start, length: ends[number] - start)
            return EncodedChange(
                key: change.0, state: EncodedChange.State(change.1),
                hasFailed: change.1.phase == nil && change.1.failure != nil,
                failure: change.1.missingFailure,
                isQueued: change.1.phase.map { $0 == .queued }, item: item ?? ByteBuffer())
        }
    }

    /// A reply to `Watch`: keys that are present or have failed as items, keys that are not present as removed.
    func write(_ changes: [EncodedChange], continues: Bool, to output: inout ByteBuffer) {
        let reported = changes.filter { $0.state != .absent && $0.item.readableBytes > 0 }
        let removed = changes.filter { $0.state != .present }.map(\.key)
        writeItems(of: reported, continues: continues, removed: removed, to: &output) {
            change, output in
            output.writeImmutableBuffer(change.item)
        }
    }
}
