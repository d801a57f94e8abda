/// A header field that one request has in addition to the usual ones.
public struct RequestField: Hashable, Sendable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
        (self.name, self.value) = (name, value)
    }

    /// The field as a line without its end, as curl_slist_append(3) takes it.
    package var line: String { "\(name): \(value)" }

    /// Whether the field says who asks (RFC 9111 §3.5).
    package var isCredential: Bool { ["authorization", "cookie"].contains(name.lowercased()) }

    /// Fields that describe the request itself, so that the daemon alone sets them.
    private static let reserved: Set<String> = [
        "host", "connection", "keep-alive", "content-length", "transfer-encoding", "te", "trailer",
        "upgrade", "http2-settings", "expect", "range", "if-range", "if-match", "if-none-match",
        "if-modified-since", "if-unmodified-since", "accept-encoding", "proxy-authorization",
        "proxy-connection",
    ]

    /// Why a request cannot have the field; `nil` if it can. The text does not quote the value, which can be a secret.
    /// RFC 9110 §5.1, §5.5.
    package var problem: String? {
        let marks = "!#$%&'*+.^_`|~-".utf8
        let isToken =
            !name.isEmpty
            && name.utf8.allSatisfy { byte in
                marks.contains(byte) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                    || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
            }
        let isText = value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
        guard isToken, isText, !value.isEmpty else {
            return "it is not a header field like \"Authorization: Bearer TOKEN\""
        }
        guard Self.reserved.contains(name.lowercased()) else { return nil }
        return "the daemon itself sets \(name); remove it"
    }
}
