/// Generates HTTP responses that are wrong in one way or several: in the status line, the header
/// fields, the framing or the image itself.
public struct ReplyFuzzer: Sendable {
    /// A response, and its body if that is known.
    public struct Reply: Sendable {
        public let script: OriginScript
        /// The image's bytes as they were sent, without any framing.
        public let body: [UInt8]
        /// All bytes as they were sent. If the head is damaged, the body can begin within it.
        public let sent: [UInt8]
    }

    private let images: [[UInt8]]
    private let targets: [String]

    /// - Parameters:
    ///   - images: complete images to build responses from.
    ///   - targets: the targets of redirects.
    public init(images: [[UInt8]], targets: [String]) {
        self.images = images
        self.targets = targets
    }

    /// Generates the next response. It always ends the connection, so that the client never waits for
    /// more.
    public func reply(using random: inout SeededGenerator) -> Reply {
        var body = random.one(of: images)
        while random.oneIn(2) { random.damage(&body) }
        let framing = random.one(of: Framing.allCases)
        var lines = [random.one(of: random.oneIn(3) ? Self.statusLines : ["HTTP/1.1 200 OK"])]
        lines += framing.fields(of: body, using: &random)
        while !random.oneIn(3) { lines.append(field(using: &random)) }
        let end = random.oneIn(20) ? "\n" : "\r\n"
        var head = Array((lines.joined(separator: end) + end + end).utf8)
        if random.oneIn(10) { random.damage(&head) }
        let sent = interim(using: &random) + head + framing.bytes(of: body, using: &random)
        let last = random.oneIn(6) ? OriginScript.Step.reset : .close
        let script: OriginScript = [.bytes(sent), last]
        return Reply(script: script, body: body, sent: sent)
    }

    /// How a response marks the end of its body, correctly or not.
    private enum Framing: CaseIterable {
        case length, tooShort, tooLong, twoLengths, oddLength, none, chunked, oddChunks, both

        func fields(of body: [UInt8], using random: inout SeededGenerator) -> [String] {
            let right = "Content-Length: \(body.count)"
            let chunked = "Transfer-Encoding: chunked"
            switch self {
            case .length: return [right]
            case .tooShort: return ["Content-Length: \(body.count / 2)"]
            case .tooLong: return ["Content-Length: \(body.count + 1 + Int(random.next() % 9000))"]
            case .twoLengths: return [right, "Content-Length: \(body.count - 1)"]
            case .oddLength: return ["Content-Length: \(random.one(of: ReplyFuzzer.numbers))"]
            case .none: return []
            case .chunked: return [random.one(of: [chunked, "Transfer-Encoding: gzip, chunked"])]
            case .oddChunks: return [chunked]
            case .both: return [right, chunked]
            }
        }

        func bytes(of body: [UInt8], using random: inout SeededGenerator) -> [UInt8] {
            switch self {
            case .chunked, .oddChunks, .both:
                var bytes: [UInt8] = []
                let size = Int.random(in: 1...4096, using: &random)
                for start in stride(from: 0, to: body.count, by: size) {
                    let chunk = body[start..<min(start + size, body.count)]
                    let isOdd = self == .oddChunks && random.oneIn(4)
                    let length =
                        isOdd
                        ? random.one(of: ReplyFuzzer.numbers) : String(chunk.count, radix: 16)
                    bytes += Array("\(length)\r\n".utf8) + chunk + Array("\r\n".utf8)
                }
                return bytes + (random.oneIn(4) ? [] : Array("0\r\n\r\n".utf8))
            default:
                return body
            }
        }
    }

    /// Interim responses before the final one: usually none, sometimes a few or thousands. RFC 9110
    /// §15.2
    private func interim(using random: inout SeededGenerator) -> [UInt8] {
        guard random.oneIn(12) else { return [] }
        let lines = [
            "HTTP/1.1 100 Continue", "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload",
        ]
        let one = Array((random.one(of: lines) + "\r\n\r\n").utf8)
        return Array(repeating: one, count: random.one(of: [1, 2, 3000])).flatMap(\.self)
    }

    private func field(using random: inout SeededGenerator) -> String {
        guard random.oneIn(8) else {
            let (name, values) = random.one(of: Self.fields)
            return "\(name): \(random.one(of: random.oneIn(5) ? Self.numbers : values))"
        }
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return "Location: " + random.one(of: targets + Self.locations)
        case 1: return "X-Folded: a\r\n\tb\r\n  c"
        case 2: return "X-Long: " + String(repeating: "a", count: random.one(of: [8000, 200_000]))
        case 3: return Array(repeating: "X-Many: 1", count: 3000).joined(separator: "\r\n")
        case 4:
            return random.one(of: ["no colon", ": no name", "X Space : 1", "", "X-Nul: \0", "é: é"])
        case 5: return random.one(of: ["X-Latin: \u{FF}", "Set-Cookie: a=b", "Connection: close"])
        default:
            return "Content-Encoding: " + random.one(of: ["gzip", "br", "identity", "x, y", ""])
        }
    }

    private static let statusLines = [
        "HTTP/1.1 200 OK", "HTTP/1.1 304 Not Modified", "HTTP/1.1 206 Partial Content",
        "HTTP/1.1 416 Range Not Satisfiable", "HTTP/1.1 301 Moved", "HTTP/1.1 302 Found",
        "HTTP/1.1 307 Temporary Redirect", "HTTP/1.1 204 No Content", "HTTP/1.1 404 Not Found",
        "HTTP/1.1 410 Gone", "HTTP/1.1 429 Too Many Requests", "HTTP/1.1 500 Error",
        "HTTP/1.1 503 Unavailable", "HTTP/1.1 101 Switching Protocols", "HTTP/1.1 999 Odd",
        "HTTP/1.1 0 None", "HTTP/1.1 -200 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 200", "HTTP/1.1",
        "HTTP/1.0 200 OK", "HTTP/2 200", "HTTP/9.9 200 OK", "http/1.1 200 OK", "ICY 200 OK",
        "HTTP/1.1  200  OK", "", "SSH-2.0-OpenSSH_9.2", "HTTP/1.1 200 \u{0}",
    ]

    private static let numbers = [
        "", "0", "-1", "1", "00", "1e3", "0x10", " 10 ", "10, 10", "10;x=y", "ffffffffffffffff",
        "7fffffffffffffff", "9223372036854775807", "9223372036854775808", "99999999999999999999999",
        "zz", "1.5", "+5", String(repeating: "9", count: 500),
    ]

    private static let dates = [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994", "Thu, 01 Jan 1970 00:00:00 GMT",
        "Fri, 31 Feb 2023 25:61:61 GMT",
        "Fri, 01 Jan 9999 00:00:00 GMT", "now", "Sun, 06 Nov 1994 08:49:37 CET",
    ]

    private static let fields: [(String, [String])] = [
        (
            "ETag",
            [
                "\"1\"", "W/\"1\"", "\"", "1", "\"\u{0}\"",
                "\"" + String(repeating: "a", count: 5000) + "\"",
            ]
        ),
        ("Last-Modified", dates), ("Date", dates), ("Expires", dates), ("Age", ["0", "5"]),
        (
            "Cache-Control",
            [
                "max-age=60", "no-store", "private", "no-cache", "max-age", "max-age=\"60\"",
                "max-age=60, max-age=0", ",,,=,\"", "max-age=60;no-store", "\"no-store",
                "stale-while-revalidate=60, stale-if-error=60", "must-revalidate, max-age=0",
            ]
        ),
        ("Vary", ["*", "Accept", "Accept-Encoding, Accept"]),
        (
            "Content-Range",
            [
                "bytes 0-9/10", "bytes 10-5/3", "bytes */10", "bytes 0-0/*", "pages 1-2/3",
                "bytes 0-9223372036854775807/9223372036854775807", "bytes", "bytes -1-5/10",
            ]
        ),
        ("Accept-Ranges", ["bytes", "none"]), ("Retry-After", ["0", "1", "3600"] + dates),
        ("Content-Type", ["image/png", "text/html", "image/svg+xml", "/", "multipart/byteranges"]),
        ("Transfer-Encoding", ["chunked", "gzip", "identity", "chunked, chunked"]),
    ]

    private static let locations = [
        "", "/", "//", "file:///etc/passwd", "ftp://127.0.0.1/", "http://", "http://[::1", "?",
        "javascript:1", "http://user:word@127.0.0.1/", "http://10.0.0.1/", "\u{0}", "http:///a",
        String(repeating: "a", count: 9000), "data:image/png;base64,AAAA", "#",
        "gopher://127.0.0.1/",
    ]
}
