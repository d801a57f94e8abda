internal import CCurl
import HTTPCaching

// Behaviour of libcurl that the cache has to work around, tested with 7.88. The workarounds that are methods of
// `Request` are below. The others are:
//
// | libcurl                                                      | fixed in    | workaround                   |
// |--------------------------------------------------------------|-------------|------------------------------|
// | tries a host's next address only when the transfer is        | 8.4.0       | `CurlMulti.perform()`        |
// | checked again, and does not report that it has to be         |             |                              |
// | joins a folded line at the beginning of a response to the    | not fixed   | each request has a handle of |
// | last header of the same handle, which is freed by then       | as of 7.88  | its own                      |
// | takes an HTTP/2 stream that is reset without an error for a  | not fixed   | `ResponseHead.isFramed`,     |
// | complete one (RFC 9113 §8.1)                                 | as of 7.88  | `Download.mayBeCut(_:)`      |
// | ends a stream whose response has fields that HTTP/2 forbids, | by design   | `KnownServers`               |
// | though browsers show the image                               |             |                              |
// | counts the connect timeout only for the transfer that opens  | not fixed   | `TransferThread.endWaiting()`|
// | a connection, not for those that wait for it                 | as of 7.88  |                              |
// | (CURLOPT_PIPEWAIT(3), CURLOPT_CONNECTTIMEOUT(3))             |             |                              |
// | sends one plain HTTP request after the other under           | not fixed   | `CurlEasy.setOptions(of:)`   |
// | CURLOPT_PIPEWAIT                                             | as of 7.88  |                              |
// | waits for a name lookup before it releases a transfer        | not fixed   | `TransferThread.abandon(_:)`,|
// |                                                              | as of 7.88  | CURLOPT_QUICK_EXIT           |
// | stays with one transfer while its bytes arrive, up to the    | not fixed   | `TransferTurns`              |
// | end of the body                                              | as of 7.88  |                              |
// | closes idle connections only with their multi handle         | by design   | `TransferThread.renew()`     |
// | restarts CURLOPT_LOW_SPEED_TIME(3) after each pause          | by design   | `RateLimiter` never pauses a |
// |                                                              |             | slow download                |
// | unpacks transfer codings that were not asked for             | 8.x         | `ResponseHead`               |
// | reports a header line of more than 100 kB as                 | 8.6.0       | `Failure.curl(_:)`           |
// | CURLE_OUT_OF_MEMORY                                          |             |                              |

extension Request {
    // MARK: Responses

    /// Whether the response claims HTTP/2 on a connection that did not agree on it. libcurl believes the claim,
    /// and would mix up the responses to several requests. Not fixed as of 7.88.
    var claimsHTTP2: Bool { head.isMultiplexed && !easy.speaksHTTP2 }

    /// Whether a line after the body begins another response. libcurl repeats a request by HTTP/1.1 if the
    /// server resets the stream with HTTP_1_1_REQUIRED (RFC 9113 §7), even in the middle of a body. Not fixed as
    /// of 7.88.
    func repeatsResponse(_ line: UnsafeRawBufferPointer) -> Bool {
        head.isMultiplexed && line.isStatusLine
    }

    /// Whether a header line belongs to a proxy's response to CONNECT. libcurl would read the body of a refusal
    /// to its end, however long it is, and would do nothing else. So a refusal ends the request. Not fixed as of
    /// 7.88.
    var isTunnelResponse: Bool {
        guard case .proxy = route else { return false }
        return !hasAsked
    }

    /// Whether HTTP/2 failed before a response was there, or because of it: fields that concern a connection
    /// (RFC 9113 §8.2.2), such as a server of HTTP/1.1 behind the origin sends them, or a length that does not fit.
    /// Browsers show such images.
    func brokeHTTP2(_ end: RequestEnd) -> Bool {
        guard failure == nil, end == .failed(.http2Stream) || end == .failed(.http2) else {
            return false
        }
        return !head.isComplete || easy.errorText.contains("PROTOCOL_ERROR")
    }

    // MARK: Bodies

    /// Whether a piece comes after the request was ended. libcurl can continue after a piece that it had held
    /// back was refused; that piece is lost. Not fixed as of 7.88.
    var isPieceAfterRefusal: Bool { failure != nil }

    // MARK: Connections

    /// Whether the connection that libcurl chose has unread data. libcurl takes data that arrived while a
    /// connection was idle for the response to the next request, and so one image for another: HTTP/1.1 matches
    /// responses to requests only by their order (RFC 9112 §9.3). An HTTP/2 connection is exempt because several
    /// requests share it. Not fixed as of 7.88.
    func hasUnreadData(onLocalPort port: Int) -> Bool {
        !isConnecting && !easy.speaksHTTP2
            && environment.connections.hasUnread(localPort: port)
    }

    /// Whether the server took the request for a late one of a connection that it was about to close (RFC 9110 §15.5.9).
    var cameTooLate: Bool { head.status == 408 && hasAsked && triedAddresses.isEmpty }

    /// Whether an HTTP/2 connection ended before the response began. A request that comes after the last one that the
    /// server names in GOAWAY was not processed (RFC 9113 §6.8), and GET may be repeated in any case (RFC 9110 §9.2.2).
    /// libcurl repeats only those that it knows to be refused. Each connection of the origin can refuse a request once,
    /// until the server has said how many streams it permits.
    func lostConnection(_ end: RequestEnd, after changes: Int) -> Bool {
        guard mayUseHTTP2, head.status == 0, changes < environment.settings.transfersPerHost else {
            return false
        }
        // Since libcurl 8, a stream that waited on such a connection could not be sent.
        return end == .failed(.notSent)
            || hasAsked && (end == .failed(.http2) || end == .failed(.cutOff))
    }

    /// Whether no address took a connection, and some were not even tried.
    func metOnlySilence(_ end: RequestEnd) -> Bool {
        guard hasSkippedAddress, !hasAsked, end != .completed else { return false }
        environment.servers.forgetSilentAddresses()
        return true
    }

    /// Has libcurl close the connection after this request.
    func forbidReuse() { set(CURLOPT_FORBID_REUSE, 1) }

    /// Whether the request has to be sent again by a new connection, because the reused one had stray data on it:
    /// either ``hasUnreadData(onLocalPort:)`` found it, or it arrived later and libcurl took it for a response
    /// without a status line. The server may have sent a body after a 304.
    ///
    /// - Parameter isRepeated: The download has met stray data before, so this request had a new connection.
    func metStrayData(_ end: RequestEnd, isRepeated: Bool) -> Bool {
        if metUnreadData { return end == .failed(.abortedByCallback) }
        // By the age of libcurl.
        let noResponse: [RequestEnd] = [.failed(.unsupportedProtocol), .failed(.strangeReply)]
        return !isRepeated && noResponse.contains(end) && hasAsked && !isConnecting
    }

    /// Closes the connection of a request that timed out, if the connection is silent for all. libcurl would have
    /// other downloads from the host wait on an HTTP/2 connection for as long as TCP keeps it. Not fixed as of
    /// 7.88.
    func leaveSilentConnection(_ end: RequestEnd) {
        guard end == .failed(.timedOut), hasAsked, easy.isSecure else { return }
        let settings = environment.settings
        let limit = head.isComplete ? settings.stallTimeout : settings.firstByteTimeout
        environment.connections.shutDownIfSilent(localPort: easy.localPort, for: .seconds(limit))
    }
}
