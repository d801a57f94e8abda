/// The bytes that a response contains, from its `Content-Range` (RFC 9110 §14.4).
enum ContentRange: Equatable {
    /// The offsets of the first and the last byte, and the length of the whole, if the response says it.
    case part(first: Int64, last: Int64, total: Int64?)
    /// No bytes, because the requested range is beyond the end.
    case unsatisfied(total: Int64)

    /// Three numbers of 64 bits, and some white space.
    private static let longest = 100

    /// - Parameter text: the value of the field. `nil` if it is not a range of bytes.
    init?(_ text: String) {
        guard text.utf8.count <= Self.longest else { return nil }
        let words = text.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].trimmed.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let total = Self.number(halves[1])
        guard total != nil || halves[1] == "*" else { return nil }
        if halves[0] == "*" {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            first <= last, total.map({ last < $0 }) ?? true
        else { return nil }
        self = .part(first: first, last: last, total: total)
    }

    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int64(text)
    }
}
