/// What an origin does, step after step, to answer one request.
///
/// Ready-made scripts cover the common cases; an array of steps says everything else:
///
///     origin.route("/plain.png", .answer(body: image))
///     origin.route("/odd.png", [
///         .head(200, ["Content-Length": "10"]), .bytes([1, 2, 3]), .wait(gate), .reset,
///     ])
public struct OriginScript: Sendable, ExpressibleByArrayLiteral {
    public enum Step: Sendable {
        /// The status line and the header fields, exactly these. A `HEAD` request ends after them.
        case head(Int, HeaderFields)
        /// These bytes as they are.
        case bytes([UInt8])
        /// One chunk of the chunked transfer coding; without bytes the last one (RFC 9112 §7.1).
        case chunk([UInt8])
        /// Nothing more until the gate is open.
        case wait(Gate)
        /// These bytes at this pace, in slices of 20 ms.
        case trickle([UInt8], bytesPerSecond: Int)
        /// These bytes over and over, until the client leaves.
        case endless([UInt8])
        /// Whatever comes from now on goes to this port of 127.0.0.1, and what comes from there back,
        /// until either side closes: what a proxy does after CONNECT (RFC 9110 §9.3.6).
        case tunnel(port: Int)
        /// Closes the connection in order.
        case close
        /// Closes the connection with a reset, which may overtake bytes not yet delivered.
        case reset
    }

    public var steps: [Step]

    public init(_ steps: [Step]) {
        self.steps = steps
    }

    public init(arrayLiteral elements: Step...) {
        steps = elements
    }
}

extension OriginScript {
    /// An ordinary answer: right length, connection kept. A type of `image/png` unless headers say.
    public static func answer(
        _ status: Int = 200, headers: HeaderFields = [:], body: [UInt8] = []
    ) -> Self {
        [head(status, headers, ["Content-Length": "\(body.count)"]), .bytes(body)]
    }

    /// A redirect to `location`.
    public static func redirect(_ status: Int = 302, to location: String) -> Self {
        [.head(status, ["Location": location, "Content-Length": "0"])]
    }

    /// An ordinary answer that stops after `count` bytes of the body until the gate opens.
    public static func gated(
        _ body: [UInt8], after count: Int, _ gate: Gate, headers: HeaderFields = [:]
    ) -> Self {
        [
            head(200, headers, ["Content-Length": "\(body.count)"]),
            .bytes(Array(body[..<count])), .wait(gate), .bytes(Array(body[count...])),
        ]
    }

    /// An ordinary answer at a given pace.
    public static func trickled(
        _ body: [UInt8], bytesPerSecond: Int, headers: HeaderFields = [:]
    ) -> Self {
        [
            head(200, headers, ["Content-Length": "\(body.count)"]),
            .trickle(body, bytesPerSecond: bytesPerSecond),
        ]
    }

    /// Promises `length` bytes (by default all of the body), sends `count` of the body's, and
    /// closes the connection; by a reset if told so.
    public static func cut(
        _ body: [UInt8], after count: Int, promising length: Int? = nil,
        byReset: Bool = false, headers: HeaderFields = [:]
    ) -> Self {
        [
            head(200, headers, ["Content-Length": "\(length ?? body.count)"]),
            .bytes(Array(body.prefix(count))), byReset ? .reset : .close,
        ]
    }

    /// The body in the chunked transfer coding; with `ended: false` the last chunk is missing and
    /// the connection is closed in its place.
    public static func chunked(
        _ body: [UInt8], by size: Int = 4096, ended: Bool = true, headers: HeaderFields = [:]
    ) -> Self {
        var script: Self = [head(200, headers, ["Transfer-Encoding": "chunked"])]
        for start in stride(from: 0, to: body.count, by: size) {
            script.steps.append(.chunk(Array(body[start..<min(start + size, body.count)])))
        }
        script.steps.append(ended ? .chunk([]) : .close)
        return script
    }

    /// The body without any length: its end is the end of the connection (RFC 9112 §6.3, rule 8).
    public static func closeDelimited(_ body: [UInt8], headers: HeaderFields = [:]) -> Self {
        [head(200, headers, ["Connection": "close"]), .bytes(body), .close]
    }

    /// An answer that never ends, of unknown length: `start`, then `rest` over and over.
    public static func endless(
        _ start: [UInt8], then rest: [UInt8] = Array(repeating: 0, count: 65536),
        headers: HeaderFields = [:]
    ) -> Self {
        [head(200, headers, ["Connection": "close"]), .bytes(start), .endless(rest)]
    }

    /// The part of `body` that a request's `Range` asks for, with status 206 (RFC 9110 §14); all of
    /// it with 200 when it asks for none or its `If-Range` is not `etag`; 416 past the end.
    public static func ranged(
        _ body: [UInt8], for request: OriginRequest, etag: String = "\"1\"",
        headers: HeaderFields = [:]
    ) -> Self {
        let common = headers.withDefaults(["ETag": etag, "Accept-Ranges": "bytes"])
        guard let first = request.firstOfRange, (request.headers["If-Range"] ?? etag) == etag else {
            return answer(headers: common, body: body)
        }
        guard first < body.count else {
            let range: HeaderFields = ["Content-Range": "bytes */\(body.count)"]
            return answer(416, headers: common.withDefaults(range))
        }
        let range: HeaderFields = [
            "Content-Range": "bytes \(first)-\(body.count - 1)/\(body.count)"
        ]
        return answer(206, headers: common.withDefaults(range), body: Array(body[first...]))
    }

    private static func head(
        _ status: Int, _ headers: HeaderFields, _ framing: HeaderFields
    ) -> Step {
        .head(status, headers.withDefaults(["Content-Type": "image/png"]).withDefaults(framing))
    }
}

extension OriginRequest {
    /// N of `Range: bytes=N-`; `nil` for no range or another form.
    public var firstOfRange: Int? {
        guard let range = headers["Range"], range.hasPrefix("bytes="), range.hasSuffix("-") else {
            return nil
        }
        return Int(range.dropFirst(6).dropLast())
    }
}
