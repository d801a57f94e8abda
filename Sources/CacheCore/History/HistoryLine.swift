import CacheFetching
internal import CacheKey
package import CacheValues

/// The lines of the file of the history. The fields of a line are separated by tabs; an empty field is absent.
extension HistoryEvent {
    private static let fieldCount = 11

    /// The time, the key, what happened and why, the bytes, the user, of a failure its kind, status and next attempt, the
    /// URL, and the message of the failure.
    var line: String {
        var line = "\(at.rawValue)\t\(key)\t\(kind.rawValue)"
        line.add(reason?.rawValue)
        line.add(bytes)
        line.add(user?.rawValue)
        line.add(failure?.kind.rawValue)
        line.add(failure?.httpStatus)
        line.add(failure?.retryAt?.rawValue)
        line.add(url)
        line.add(failure?.message.onOneLine)
        return line + "\n"
    }

    init?(line: Slice<UnsafeRawBufferPointer>) {
        let fields = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
        guard fields.count == Self.fieldCount,
            let key = CacheKey(name: UnsafeRawBufferPointer(rebasing: fields[1]))
        else { return nil }
        func text(_ place: Int) -> String { String(decoding: fields[place], as: UTF8.self) }
        guard let at = UInt32(text(0)), let kind = Kind(rawValue: text(2)) else { return nil }
        let failure = Failure.Kind(rawValue: text(6)).map { kind in
            Failure(
                kind, text(10), httpStatus: Int(text(7)),
                retryAt: UInt32(text(8)).map { UnixTime(rawValue: $0) })
        }
        self.init(
            kind, key, fields[9].isEmpty ? nil : text(9), bytes: Int64(text(4)),
            because: Reason(rawValue: text(3)),
            by: UInt32(text(5)).map { UserID(rawValue: $0) }, failure: failure)
        self.at = UnixTime(rawValue: at)
    }
}

/// The figures of the daemon at a time.
package struct HistorySample: Hashable, Sendable {
    /// Their names, which are those in `Stats`. All but the first two are counters since the start.
    package static let names = [
        "bytesUsed", "entries", "bytesReceived", "hits", "misses", "published", "failed", "evicted",
        "bytesEvicted",
    ]

    package let at: UnixTime
    /// In the order of the names.
    package let figures: [Int]

    private static let word = "sample"

    init(at: UnixTime, figures: [Int]) {
        (self.at, self.figures) = (at, figures)
    }

    var line: String {
        ([Self.word, "\(at.rawValue)"] + figures.map { "\($0)" }).joined(separator: "\t") + "\n"
    }

    init?(line: Slice<UnsafeRawBufferPointer>) {
        guard line.first == Self.word.utf8.first else { return nil }
        let fields = String(decoding: line, as: UTF8.self).split(separator: "\t")
        guard fields.count == Self.names.count + 2, fields[0] == Self.word,
            let at = UInt32(fields[1])
        else { return nil }
        (self.at, figures) = (UnixTime(rawValue: at), fields.dropFirst(2).compactMap { Int($0) })
        guard figures.count == Self.names.count else { return nil }
    }
}

extension String {
    /// Appends a field of a line.
    fileprivate mutating func add(_ field: (some LosslessStringConvertible)?) {
        append("\t")
        if let field { append(String(field)) }
    }

    /// With a space in the place of each control byte.
    fileprivate var onOneLine: String {
        String(decoding: utf8.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }, as: UTF8.self)
    }
}
