/// A text in which each `*` stands for any characters.
struct Pattern: Hashable, Sendable {
    private let parts: [String]

    init(_ text: Substring) {
        parts = text.split(separator: "*", omittingEmptySubsequences: false).map { String($0) }
    }

    func matches(_ text: Substring) -> Bool {
        guard parts.count > 1 else { return text == parts[0] }
        let (first, last) = (parts[0], parts[parts.count - 1])
        guard text.utf8.count >= first.utf8.count + last.utf8.count, text.hasPrefix(first),
            text.hasSuffix(last)
        else { return false }
        var rest = text.dropFirst(first.count).dropLast(last.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let found = rest.range(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }
}

extension Substring {
    /// The first place of a text in this one.
    fileprivate func range(of part: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(part) {
                return start..<index(start, offsetBy: part.count)
            }
            start = index(after: start)
        }
        return nil
    }
}
