/// Splits a list of URLs into calls, in order. Each batch is small enough that neither the call nor
/// its reply exceeds the 16 MiB limit of a message.
struct CallBatches: Sequence, IteratorProtocol {
    private let urls: [String]
    private var position = 0

    /// Limit of a batch in estimated bytes of reply. It is three quarters of a message because the
    /// costs below are estimates.
    static let budget = 12 << 20
    /// Bytes that a reply item adds to its URL: field names, key, path, digest and times.
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

    /// An upper bound for the bytes of one reply item. In JSON a control byte becomes the six bytes
    /// of an escape such as `\u001b` (RFC 8259 §7).
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
