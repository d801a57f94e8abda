import CacheWire
import Glibc

/// The downloads that an interrupted `fetch` has left in the cache.
struct KeptDownloads: Hashable {
    private(set) var total = 0
    private(set) var cached = 0
    /// Partial downloads that the next fetch continues, and their bytes.
    private(set) var partial = 0
    private(set) var bytes = 0
    /// Downloads that continue because other callers want the images too.
    private(set) var continued = 0

    mutating func count(_ items: [Item]) {
        for item in items {
            total += 1
            switch item.state {
            case .cached: cached += 1
            case .inFlight: continued += 1
            case .missing:
                guard let received = item.received, received > 0 else { continue }
                partial += 1
                bytes = bytes.saturatingAdding(received)
            }
        }
    }

    /// One sentence for a person.
    var text: String {
        var parts = ["\(cached) of \(total) \(total == 1 ? "image is" : "images are") cached"]
        if partial > 0 {
            let size = ByteCountText.describe(bytes)
            parts.append(
                partial == 1
                    ? "a partial download of \(size) is kept, and the next fetch continues it"
                    : "\(partial) partial downloads of \(size) are kept, and the next fetch continues them"
            )
        }
        if continued > 0 {
            parts.append(
                "\(continued) \(continued == 1 ? "download continues" : "downloads continue") "
                    + "for other callers")
        }
        return "interrupted: " + parts.joined(separator: "; ")
    }
}

extension KeptDownloads {
    /// How long the daemon gets to stop the downloads of a caller that has left.
    private static let patience = (looks: 20, microseconds: UInt32(25_000))

    /// Asks a daemon to which no call of the interrupted command is left.
    static func ask(_ client: Client, about urls: URLList) throws -> KeptDownloads {
        var kept = KeptDownloads()
        for _ in 0..<patience.looks {
            kept = KeptDownloads()
            try urls.callInBatches {
                try client.call(Methods.Status.self, .init(urls: $0)).items
            } handle: {
                kept.count($0)
            }
            guard kept.continued > 0 else { break }
            usleep(patience.microseconds)
        }
        return kept
    }
}
