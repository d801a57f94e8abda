internal import CCurl

/// A result of libcurl other than success. libcurl-errors(3).
struct CurlError: Error, Equatable, CustomStringConvertible {
    let code: CURLcode

    static let abortedByCallback = CurlError(code: CURLE_ABORTED_BY_CALLBACK)
    static let badContentEncoding = CurlError(code: CURLE_BAD_CONTENT_ENCODING)
    static let couldNotConnect = CurlError(code: CURLE_COULDNT_CONNECT)
    static let cutOff = CurlError(code: CURLE_PARTIAL_FILE)
    static let http2 = CurlError(code: CURLE_HTTP2)
    static let http2Stream = CurlError(code: CURLE_HTTP2_STREAM)
    static let notSent = CurlError(code: CURLE_SEND_ERROR)
    /// CURLE_PROXY: the handshake with a SOCKS proxy failed.
    static let proxyRefused = CurlError(code: CURLE_PROXY)
    static let strangeReply = CurlError(code: CURLE_WEIRD_SERVER_REPLY)
    static let timedOut = CurlError(code: CURLE_OPERATION_TIMEDOUT)
    /// CURLE_TOO_LARGE: a header line, or what a paused body unpacks to. Since 8.6.0, so older headers lack it.
    static let tooLarge = CurlError(code: CURLcode(100))
    static let unsupportedProtocol = CurlError(code: CURLE_UNSUPPORTED_PROTOCOL)
    static let unverifiedPeer = CurlError(code: CURLE_PEER_FAILED_VERIFICATION)
    static let writeFailed = CurlError(code: CURLE_WRITE_ERROR)

    /// curl_easy_strerror(3).
    var description: String { String(cString: curl_easy_strerror(code)) }
}
