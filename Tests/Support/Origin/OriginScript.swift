/// The steps an origin performs to answer one request.
///
/// Ready-made scripts cover the common cases; an array of steps expresses everything else:
///
///     origin.route("/plain.png", .answer(body: image))
///     origin.route("/odd.png", [
///         .head(200, ["Content-Length": "10"]), .bytes([1, 2, 3]), .wait(gate), .reset,
///     ])
public struct OriginScript: Sendable, ExpressibleByArrayLiteral {
    public enum Step: Sendable {
        /// Sends the status line and exactly these header fields. A `HEAD` request ends after them.
        case head(Int, HeaderFields)
        /// Sends these bytes verbatim.
        case bytes([UInt8])
        /// Sends one chunk of the chunked transfer coding; an empty chunk is the last one (RFC 9112 §7.1).
        case chunk([UInt8])
        /// Waits until the gate is open.
        case wait(Gate)
        /// Sends these bytes at this rate, in slices of 20 ms.
        case trickle([UInt8], bytesPerSecond: Int)
        /// Sends these bytes repeatedly until the client disconnects.
        case endless([UInt8])
        /// Relays all further bytes to and from this port of 127.0.0.1 until either side closes, as a
        /// proxy does after CONNECT (RFC 9110 §9.3.6).
        case tunnel(port: Int)
        /// Closes the connection normally.
        case close
        /// Closes the connection with a reset, which can discard bytes not yet delivered.
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
    /// An ordinary response: correct length, connection kept open, `image/png` unless `headers` differ.
    public static func answer(
        _ status: Int = 200, headers: HeaderFields = [:], body: [UInt8] = []
    ) -> Self {
        [head(status, headers, ["Content-Length": "\(body.count)"]), .bytes(body)]
    }

    /// A store's explanation of a failure, as S3 has it.
    public static func storeError(
        _ status: Int, _ code: String, _ headers: HeaderFields = [:]
    ) -> Self {
        answer(
            status, headers: headers.withDefaults(["Content-Type": "application/xml"]),
            body: Array("<?xml version=\"1.0\"?><Error><Code>\(code)</Code></Error>".utf8))
    }

    /// A redirect to `location`.
    public static func redirect(_ status: Int = 302, to location: String) -> Self {
        [.head(status, ["Location": location, "Content-Length": "0"])]
    }

    /// An ordinary response that stops after `count` bytes of the body until the gate opens.
    public static func gated(
        _ body: [UInt8], after count: Int, _ gate: Gate, headers: HeaderFields = [:]
    ) -> Self {
        [
            head(200, headers, ["Content-Length": "\(body.count)"]),
            .bytes(Array(body[..<count])), .wait(gate), .bytes(Array(body[count...])),
        ]
    }

    /// An ordinary response at a given rate.
    public static func trickled(
        _ body: [UInt8], bytesPerSecond: Int, headers: HeaderFields = [:]
    ) -> Self {
        [
            head(200, headers, ["Content-Length": "\(body.count)"]),
            .trickle(body, bytesPerSecond: bytesPerSecond),
        ]
    }

    /// Promises `length` bytes (by default the whole body), sends the first `count` of the body, and
    /// closes the connection, with a reset if `byReset`.
    public static func cut(
        _ body: [UInt8], after count: Int, promising length: Int? = nil,
        byReset: Bool = false, headers: HeaderFields = [:]
    ) -> Self {
        [
            head(200, headers, ["Content-Length": "\(length ?? body.count)"]),
            .bytes(Array(body.prefix(count))), byReset ? .reset : .close,
        ]
    }

    /// The body in the chunked transfer coding. With `ended: false` the connection is closed instead of
    /// sending the last chunk.
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

    /// The body without a length: the end of the connection ends it (RFC 9112 §6.3, rule 8).
    public static func closeDelimited(_ body: [UInt8], headers: HeaderFields = [:]) -> Self {
        [head(200, headers, ["Connection": "close"]), .bytes(body), .close]
    }

    /// An endless response of unknown length: `start`, then `rest` repeatedly.
    public static func endless(
        _ start: [UInt8], then rest: [UInt8] = Array(repeating: 0, count: 65536),
        headers: HeaderFields = [:]
    ) -> Self {
        [head(200, headers, ["Connection": "close"]), .bytes(start), .endless(rest)]
    }

    /// Answers a `Range` request with that part of `body` and status 206 (RFC 9110 §14). Answers with
    /// the whole body and 200 if there is no range or `If-Range` is not `etag`, and with 416 if the
    /// range starts past the end.
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
