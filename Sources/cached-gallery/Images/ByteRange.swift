import NIOHTTP1

/// The part of a file that a request asks for (RFC 9110 §14.2).
enum ByteRange {
    case whole
    case part(Range<Int>)
    case unsatisfiable

    /// One range is sent as a part. Several, or a text that is no range, get the whole file.
    init(_ headers: HTTPHeaders, size: Int, tag: String) {
        self = .whole
        guard let text = headers.only("range"), text.hasPrefix("bytes=") else { return }
        if let condition = headers.only("if-range"), condition != tag { return }
        let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }) else {
            return
        }
        switch (Int(ends[0]), Int(ends[1])) {
        case (let start?, let end) where end != nil || ends[1].isEmpty:
            if let end, end < start { return }
            self = start < size ? .part(start..<min((end ?? size - 1) + 1, size)) : .unsatisfiable
        case (nil, let length?) where ends[0].isEmpty:
            self = length > 0 && size > 0 ? .part(max(size - length, 0)..<size) : .unsatisfiable
        default: return
        }
    }
}
