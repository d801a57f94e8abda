/// How an image is wanted, apart from its priority.
public struct WantTerms: Sendable, Hashable {
    /// The failed attempts after which the image has failed; 0 for as many as the daemon makes.
    public var attempts: Int32 = 0
    /// Milliseconds after which the image has failed; 0 for no limit.
    public var timeout: Int64 = 0
    /// The header fields of an account, as a JSON object; empty if there are none.
    public private(set) var headers: [UInt8] = []
    /// The media types that the program can decode, with commas between them; empty for all.
    public var accept: [UInt8] = []

    public init() {}

    /// Adds a header field; RFC 9110 §5.
    public mutating func addHeader(_ name: some Collection<UInt8>, _ value: some Collection<UInt8>)
    {
        var json = JSONWriter()
        json.put(raw: headers.isEmpty ? [UInt8(ascii: "{")] : headers.dropLast())
        if !headers.isEmpty { json.put(",") }
        json.put(string: name)
        json.put(":")
        json.put(string: value)
        json.put("}")
        headers = json.bytes
    }

    /// Adds a header field of the form `Name: value`. Returns `false` if it has another form.
    public mutating func addHeader(line: [UInt8]) -> Bool {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return false }
        let value = line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }
        guard !value.isEmpty, line.allSatisfy({ $0 >= 0x20 || $0 == 0x09 }) else { return false }
        addHeader(line[..<colon], value)
        return true
    }

    /// Whether the program can decode a type; `image/*` and `*/*` stand for several (RFC 9110 §12.5.1).
    public func accepts(_ type: some Collection<UInt8>) -> Bool {
        guard !accept.isEmpty else { return true }
        return accept.split(separator: UInt8(ascii: ",")).contains { range in
            let words = range.prefix { $0 != UInt8(ascii: ";") }
                .filter { $0 != UInt8(ascii: " ") && $0 != 0x09 }
                .map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
            guard words.last == UInt8(ascii: "*") else { return words.elementsEqual(type) }
            return words == StaticText.bytes("*/*") || type.starts(with: words.dropLast())
        }
    }
}

extension Collection where Element == UInt8 {
    /// Whether the fragment of a URL names an account.
    public var namesAccount: Bool {
        guard let mark = firstIndex(of: UInt8(ascii: "#")) else { return false }
        return self[mark...].dropFirst().starts(with: StaticText.bytes("as="))
    }
}
