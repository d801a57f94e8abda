/// URLs cut into calls, in order, so that neither a call nor its reply passes the 16 MiB of a
/// message.
struct CallBatches: Sequence, IteratorProtocol {
    private let urls: [String]
    private var position = 0

    /// Three quarters of a message: the estimates below are estimates.
    static let budget = 12 << 20
    /// What an item adds to its URL in a reply: names of fields, key, path, digest, times.
    static let itemOverhead = 768

    init(_ urls: [String]) {
        self.urls = urls
    }

    mutating func next() -> [String]? {
        guard position < urls.count else { return nil }
        let start = position
        var room = Self.budget
        while position < urls.count {
            room -= Self.cost(of: urls[position])
            guard room >= 0 || position == start else { break }
            position += 1
        }
        return Array(urls[start..<position])
    }

    /// Bytes of an item at most: a control byte becomes the six of `\u001b` (RFC 8259 §7).
    private static func cost(of url: String) -> Int {
        url.utf8.reduce(itemOverhead) { total, byte in
            switch byte {
            case 0..<0x20: total + 6
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): total + 2
            default: total + 1
            }
        }
    }
}
