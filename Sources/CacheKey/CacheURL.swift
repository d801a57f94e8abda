/// A URL that the cache accepts: absolute `http` or `https`, at most 8,192 bytes of UTF-8, without
/// control bytes, user information, or spaces at its ends. Its fragment, if any, names a variant; see ``side`` and
/// ``account``.
///
///     let url = try CacheURL("https://example.com/a.png")
///
/// Nothing is normalised: the given bytes are hashed unchanged (RFC 9562 §6.5 leaves the canonical
/// form to the application).
public struct CacheURL: Hashable, Sendable, CustomStringConvertible {
    /// The URL, byte for byte as it was given.
    public let string: String

    /// The longest accepted URL, in bytes of UTF-8. Signed URLs have up to 4 kB, and many servers
    /// refuse a request line of more than 8 KiB.
    public static let maximumLength = 8192

    /// Checks a URL.
    ///
    /// - Parameter string: the URL.
    /// - Throws: ``InvalidURL`` with the reason if the cache does not accept it.
    public init(_ string: String) throws(InvalidURL) {
        var copy = string
        let problem = copy.withUTF8 { Self.problem(in: UnsafeRawBufferPointer($0)) }
        if let problem { throw problem }
        self.string = copy
    }

    /// Part of a URL that was checked.
    init(checked string: String) {
        self.string = string
    }

    public var description: String { string }

    /// Compares bytes: two URLs with the same Unicode text can have different keys.
    public static func == (left: CacheURL, right: CacheURL) -> Bool {
        left.string.utf8.elementsEqual(right.string.utf8)
    }

    /// The scheme, host and port as given, which identify the origin (RFC 6454 §4).
    public var origin: Substring {
        let authority = string.utf8.firstIndex(of: UInt8(ascii: "/")).map {
            string.utf8.index($0, offsetBy: 2)
        }
        guard let authority else { return string[...] }
        let end = string.utf8[authority...].firstIndex { byte in
            byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
        }
        return string[..<(end ?? string.endIndex)]
    }

    /// The host as given, without its port. The brackets of an IPv6 address are part of it (RFC 3986 §3.2.2).
    public var host: Substring {
        let bytes = origin.utf8
        let authority = bytes.drop { $0 != UInt8(ascii: "/") }.drop { $0 == UInt8(ascii: "/") }
        if authority.first == UInt8(ascii: "["),
            let end = authority.firstIndex(of: UInt8(ascii: "]"))
        {
            return Substring(authority[...end])
        }
        return Substring(authority.prefix { $0 != UInt8(ascii: ":") })
    }

    /// Checks bytes without making a string of them.
    ///
    /// - Parameter bytes: the bytes of a URL, which must be UTF-8.
    /// - Returns: why the cache does not accept the URL; `nil` if it does.
    public static func problem(in bytes: UnsafeRawBufferPointer) -> InvalidURL? {
        do {
            try check(bytes)
            return nil
        } catch {
            return error
        }
    }

    private static func check(_ bytes: UnsafeRawBufferPointer) throws(InvalidURL) {
        guard !bytes.isEmpty else { throw InvalidURL("it is empty") }
        guard bytes.count <= maximumLength else {
            throw InvalidURL("it has \(bytes.count) bytes, more than \(maximumLength)")
        }
        var hasFragment = false
        for byte in bytes where byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "#") {
            hasFragment = byte == UInt8(ascii: "#")
            guard !hasFragment else { continue }
            throw InvalidURL(
                [0x09, 0x0A, 0x0D].contains(byte)
                    ? "it contains a tab or the end of a line; remove it"
                    : "it contains a control byte; percent-encode or remove it")
        }
        guard bytes.first != 0x20, bytes.last != 0x20 else {
            throw InvalidURL("it begins or ends with a space; remove it")
        }
        let authority = try authority(of: bytes)
        try check(authority: UnsafeRawBufferPointer(rebasing: bytes[authority]))
        guard hasFragment else { return }
        _ = try Fragment(bytes.drop { $0 != UInt8(ascii: "#") }.dropFirst())
    }

    /// The range between `//` and the path, query or fragment (RFC 3986 §3.2).
    private static func authority(of bytes: UnsafeRawBufferPointer) throws(InvalidURL)
        -> Range<Int>
    {
        let start: Int
        if hasPrefix(bytes, "https://") {
            start = 8
        } else if hasPrefix(bytes, "http://") {
            start = 7
        } else if !hasPrefix(bytes, "http:"), !hasPrefix(bytes, "https:"),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")), isScheme(bytes[..<colon])
        {
            throw InvalidURL("its scheme is neither http nor https")
        } else {
            throw InvalidURL("it is not absolute: it must start with http:// or https://")
        }
        let end = bytes[start...].firstIndex { byte in
            byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
        }
        return start..<(end ?? bytes.count)
    }

    private static func check(authority: UnsafeRawBufferPointer) throws(InvalidURL) {
        guard !authority.contains(0x20) else {
            throw InvalidURL("its host contains a space; remove it")
        }
        guard !authority.contains(UInt8(ascii: "@")) else {
            throw InvalidURL("it carries a user name or password, which are never stored")
        }
        let bracketed = authority.first == UInt8(ascii: "[")
        let hostEnd =
            bracketed
            ? authority.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 }
            : authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
        guard let hostEnd, hostEnd > authority.startIndex else {
            throw InvalidURL("it names no host")
        }
        try check(port: authority[hostEnd...])
    }

    /// Checks the text after the host: empty, or a colon and decimal digits (RFC 3986 §3.2.3).
    private static func check(port: Slice<UnsafeRawBufferPointer>) throws(InvalidURL) {
        guard let colon = port.first else { return }
        var number = 0
        for byte in port.dropFirst() {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9"), number <= 65535 else {
                throw InvalidURL("its port is not a number from 0 to 65535")
            }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
        }
        guard colon == UInt8(ascii: ":"), number <= 65535 else {
            throw InvalidURL("its port is not a number from 0 to 65535")
        }
    }

    /// Compares ASCII letters without case, because schemes are case-insensitive (RFC 3986 §3.1).
    private static func hasPrefix(_ bytes: UnsafeRawBufferPointer, _ prefix: StaticString) -> Bool {
        guard bytes.count >= prefix.utf8CodeUnitCount else { return false }
        for index in 0..<prefix.utf8CodeUnitCount {
            let expected = prefix.utf8Start[index]
            let isLetter = expected >= UInt8(ascii: "a")
            guard (isLetter ? bytes[index] | 0x20 : bytes[index]) == expected else { return false }
        }
        return true
    }

    private static func isScheme(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        !bytes.isEmpty
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
                    UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
