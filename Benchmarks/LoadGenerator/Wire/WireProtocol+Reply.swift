import Glibc

extension WireProtocol {
    /// Whether `reply`, all bytes received since the request, is a complete reply.
    ///
    /// One request is in flight on a connection, so nothing follows its reply. A reply that reports an
    /// error throws, because errors are often faster than real replies.
    @inline(__always)
    func isWhole(_ reply: UnsafeRawBufferPointer, requestLength: Int) throws -> Bool {
        switch self {
        case .varlink: try Self.varlinkIsWhole(reply)
        case .http, .aria2: try Self.httpIsWhole(reply)
        case .redis: try Self.redisIsWhole(reply)
        case .echo: reply.count >= requestLength
        }
    }

    private static func varlinkIsWhole(_ reply: UnsafeRawBufferPointer) throws -> Bool {
        guard reply[reply.count - 1] == 0 else { return false }
        guard !hasPrefix(reply, "{\"error\"") else { throw failure("Varlink", reply) }
        return true
    }

    /// RFC 9112 §6.3, for responses that state their length.
    private static func httpIsWhole(_ reply: UnsafeRawBufferPointer) throws -> Bool {
        guard let headEnd = offset(of: "\r\n\r\n", in: reply) else { return false }
        guard hasPrefix(reply, "HTTP/1.1 200 ") else { throw failure("HTTP", reply) }
        // Field names are case-insensitive, but these peers all use this case.
        guard let field = offset(of: "\r\nContent-Length:", in: reply), field < headEnd else {
            throw failure("HTTP without a length", reply)
        }
        return reply.count >= headEnd + 4 + number(in: reply, from: field + 17)
    }

    /// A bulk string of the Redis serialization protocol: `$LENGTH`, CR LF, the bytes, CR LF.
    private static func redisIsWhole(_ reply: UnsafeRawBufferPointer) throws -> Bool {
        guard reply[0] == UInt8(ascii: "$"), reply.count < 2 || reply[1] != UInt8(ascii: "-") else {
            throw failure("Redis", reply)
        }
        guard let lineEnd = offset(of: "\r\n", in: reply) else { return false }
        return reply.count >= lineEnd + 2 + number(in: reply, from: 1) + 2
    }

    /// The decimal number at `start`, after optional spaces.
    private static func number(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var value = 0
        for byte in bytes[start...] where byte != UInt8(ascii: " ") {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { break }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return value
    }

    /// The position of `needle`. memchr(3), memcmp(3).
    private static func offset(of needle: StaticString, in bytes: UnsafeRawBufferPointer) -> Int? {
        let length = needle.utf8CodeUnitCount
        var start = 0
        while bytes.count - start >= length {
            let room = bytes.count - start - length + 1
            let place = memchr(bytes.baseAddress! + start, Int32(needle.utf8Start[0]), room)
            guard let place else { return nil }
            if memcmp(place, needle.utf8Start, length) == 0 {
                return UnsafeRawPointer(place) - bytes.baseAddress!
            }
            start = UnsafeRawPointer(place) - bytes.baseAddress! + 1
        }
        return nil
    }

    private static func hasPrefix(_ bytes: UnsafeRawBufferPointer, _ prefix: StaticString) -> Bool {
        bytes.count >= prefix.utf8CodeUnitCount
            && memcmp(bytes.baseAddress!, prefix.utf8Start, prefix.utf8CodeUnitCount) == 0
    }

    private static func failure(_ name: String, _ reply: UnsafeRawBufferPointer) -> BenchFailure {
        let start = String(decoding: reply.prefix(200), as: UTF8.self)
        return BenchFailure("unexpected \(name) reply: \(start.debugDescription)")
    }
}
