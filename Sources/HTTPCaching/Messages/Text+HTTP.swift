extension StringProtocol {
    /// The text without white space and line ends around it.
    var trimmed: String {
        String(decoding: Substring(self).utf8.trimmed, as: UTF8.self)
    }
}

extension String {
    /// The members of a list, in lower case and without white space around them. Those that are empty do not count
    /// (RFC 9110 §5.6.1).
    var members: [String] {
        utf8.split(separator: UInt8(ascii: ",")).lazy.map(\.trimmed).filter { !$0.isEmpty }
            .map { String(decoding: $0.lazy.map(\.lowercasedASCII), as: UTF8.self) }
    }
}

extension BidirectionalCollection<UInt8> where SubSequence: BidirectionalCollection<UInt8> {
    /// The bytes without white space and line ends around them (RFC 9110 §5.6.3).
    var trimmed: SubSequence {
        let tail = drop(while: \.isSpace)
        guard let last = tail.lastIndex(where: { !$0.isSpace }) else { return suffix(0) }
        return self[tail.startIndex...last]
    }
}

extension UInt8 {
    /// An ASCII letter in lower case. Any other byte stays as it is.
    var lowercasedASCII: UInt8 { 0x41...0x5A ~= self ? self | 0x20 : self }

    /// Whether this is a space, a tab, or one of the four that end lines: LF, VT, FF, CR.
    fileprivate var isSpace: Bool { self == 0x20 || 0x09...0x0D ~= self }
}

extension UnsafeRawBufferPointer {
    /// Whether this line is a status line, with which a response begins. libcurl accepts any case of letters.
    package var isStatusLine: Bool {
        starts(with: "HTTP/".utf8) { $0.lowercasedASCII == $1.lowercasedASCII }
    }
}
