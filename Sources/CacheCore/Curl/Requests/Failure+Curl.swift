internal import CCurl
import CacheValues
import HTTPCaching

extension Failure {
    /// Translates an error of libcurl. libcurl-errors(3).
    ///
    /// - Parameters:
    ///   - received: Bytes of the image that arrived.
    ///   - length: Bytes that the server promised, if it did.
    ///   - head: The head of the latest response, empty if there was none.
    ///   - hasAsked: Whether the request was sent to the last host on the way.
    ///   - certificateProblem: See ``CurlEasy/certificateProblem``.
    ///   - text: See ``CurlEasy/errorText``.
    static func curl(
        _ error: CurlError, received: Int64 = 0, of length: Int64? = nil,
        _ head: ResponseHead = ResponseHead(), hasAsked: Bool = false, certificateProblem: Int = 0,
        text: String = ""
    ) -> Failure {
        if received == 0, let refusal = refusalOfTLS(error, text) { return refusal }
        switch error.code {
        case CURLE_PARTIAL_FILE where received > 0 || head.isComplete,
            CURLE_RECV_ERROR where received > 0,
            CURLE_HTTP2_STREAM where received > 0,
            CURLE_HTTP2 where received > 0:
            let promised = length.map { " of \($0)" } ?? ""
            return Failure(.truncated, "the connection closed after \(received)\(promised) bytes")
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE,
            CURLE_HTTP2_STREAM, CURLE_HTTP2:
            return Failure(.unreachable, "the connection was lost: \(error)")
        case CURLE_UNSUPPORTED_PROTOCOL where head.isOnTheWay && !hasAsked:
            return Failure(.redirect, "redirected to a scheme that is neither http nor https")
        case CURLE_UNSUPPORTED_PROTOCOL:
            // libcurl reports this for a response without a status line, as HTTP/0.9 had it.
            return Failure(.protocolError, "the server's answer is not HTTP")
        case CURLE_OUT_OF_MEMORY where !head.isComplete,
            CurlError.tooLarge.code where !head.isComplete:
            return .tooManyHeaders
        case CurlError.tooLarge.code: return .bomb
        case CURLE_WRITE_ERROR where !head.isWholeImage: return .http(head.status)
        case CURLE_WEIRD_SERVER_REPLY:
            return Failure(
                .protocolError,
                "the head of the server's response breaks HTTP (RFC 9112); only the server can fix it"
            )
        case CURLE_BAD_CONTENT_ENCODING where !head.isComplete: return .transferCoding
        case CURLE_BAD_CONTENT_ENCODING:
            return Failure(
                .protocolError,
                "the body is not coded as the server's Content-Encoding says, so it cannot be unpacked"
            )
        default:
            return connecting(error) ?? certificate(error, certificateProblem)
                ?? redirect(error, head)
                ?? Failure(.protocolError, "the transfer failed: \(error)")
        }
    }

    private static func connecting(_ error: CurlError) -> Failure? {
        switch error.code {
        case CURLE_COULDNT_RESOLVE_HOST:
            Failure(.unresolved, "the host name does not resolve")
        case CURLE_COULDNT_RESOLVE_PROXY:
            Failure(.unresolved, "the proxy's name does not resolve (--proxy)")
        case CURLE_COULDNT_CONNECT:
            Failure(.unreachable, "no connection could be made: is the server running?")
        case CURLE_OPERATION_TIMEDOUT:
            Failure(.timeout, "the server was too slow: \(error)")
        case CURLE_SSL_CONNECT_ERROR:
            // Overloaded servers close connections at any point of the handshake.
            Failure(
                .unreachable,
                "no TLS connection could be made (\(error)): does the server support TLS?")
        default: nil
        }
    }

    /// The failure if one end gave up the handshake and OpenSSL knows why, as libcurl's text says. `nil` if the connection
    /// just ended: overloaded servers do that at any point. ERR_error_string(3).
    private static func refusalOfTLS(_ error: CurlError, _ text: String) -> Failure? {
        guard
            [CURLE_SSL_CONNECT_ERROR, CURLE_SEND_ERROR, CURLE_RECV_ERROR].contains(error.code),
            text.contains("error:"), let reason = text.split(separator: ":").last,
            !reason.contains("unexpected eof")
        else { return nil }
        return Failure(
            .tls, "no TLS connection could be made: \(reason); only the server can fix it")
    }

    /// X509_STORE_CTX_get_error(3).
    private static func certificate(_ error: CurlError, _ problem: Int) -> Failure? {
        let reason: String
        switch (error.code, problem) {
        case (CURLE_SSL_CACERT_BADFILE, _):
            return Failure(
                .tls, "the file of trusted certificates cannot be used: \(error) (--ca-file)")
        case (CURLE_PEER_FAILED_VERIFICATION, 1): reason = "is not for this host's name"
        case (CURLE_PEER_FAILED_VERIFICATION, 9):
            reason = "is not valid yet; is the clock of this machine right?"
        case (CURLE_PEER_FAILED_VERIFICATION, 10): reason = "has expired"
        case (CURLE_PEER_FAILED_VERIFICATION, 18...19):
            reason = "is from an authority that is not trusted; --ca-file adds one"
        case (CURLE_PEER_FAILED_VERIFICATION, 20...21):
            reason =
                "comes without its issuer: the server sends an incomplete chain, or its authority is not "
                + "trusted (--ca-file adds one)"
        case (CURLE_PEER_FAILED_VERIFICATION, 62):
            reason = "names its host only as its common name, which browsers do not accept either"
        case (CURLE_PEER_FAILED_VERIFICATION, _), (CURLE_SSL_CERTPROBLEM, _),
            (CURLE_SSL_CIPHER, _), (CURLE_SSL_ISSUER_ERROR, _):
            reason = "is not acceptable (\(error)); --ca-file adds an authority"
        default: return nil
        }
        return Failure(.tls, "the server's certificate \(reason)")
    }

    private static func redirect(_ error: CurlError, _ head: ResponseHead) -> Failure? {
        switch error.code {
        case CURLE_LOGIN_DENIED where head.isOnTheWay:
            Failure(
                .redirect, "redirected to a URL with a user name or password, which are never sent")
        case CURLE_URL_MALFORMAT where head.isOnTheWay:
            Failure(.redirect, "redirected to an invalid URL: \(error)")
        case CURLE_URL_MALFORMAT: Failure(.invalidURL, "not a valid URL: \(error)")
        default: nil
        }
    }
}
