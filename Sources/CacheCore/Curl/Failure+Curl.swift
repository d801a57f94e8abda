internal import CCurl

extension Failure {
    /// What libcurl's result means for the image. libcurl-errors(3).
    ///
    /// - Parameters:
    ///   - hasAsked: whether the last host on the way was asked.
    ///   - certificateProblem: what is wrong with a certificate; see ``CurlEasy/certificateProblem``.
    static func curl(
        _ code: CURLcode, _ received: Int64 = 0, _ length: Int64? = nil,
        _ head: ResponseHead = ResponseHead(), hasAsked: Bool = false, certificateProblem: Int = 0
    ) -> Failure {
        let text = String(cString: curl_easy_strerror(code))
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            return Failure(.unresolved, "the host name does not resolve")
        case CURLE_COULDNT_RESOLVE_PROXY:
            return Failure(.unresolved, "the proxy's name does not resolve (--proxy)")
        case CURLE_COULDNT_CONNECT:
            return Failure(.unreachable, "no connection could be made: is the server running?")
        case CURLE_OPERATION_TIMEDOUT:
            return Failure(.timeout, "the server was too slow: \(text)")
        case CURLE_SSL_CONNECT_ERROR:
            // Servers that have too much to do close connections at any point.
            return Failure(
                .unreachable,
                "no connection by TLS could be made (\(text)): does the server speak it?")
        case CURLE_SSL_CACERT_BADFILE:
            return Failure(
                .tls, "the file of trusted authorities can't be used: \(text); --ca-file")
        case CURLE_PEER_FAILED_VERIFICATION: return .certificate(certificateProblem, text)
        case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR:
            return .certificate(0, text)
        case CURLE_PARTIAL_FILE where received > 0 || head.isComplete,
            CURLE_RECV_ERROR where received > 0,
            CURLE_HTTP2_STREAM where received > 0,
            CURLE_HTTP2 where received > 0:
            let promised = length.map { " of \($0)" } ?? ""
            return Failure(.truncated, "the connection closed after \(received)\(promised) bytes")
        case CURLE_TOO_MANY_REDIRECTS:
            return Failure(.redirect, "too many redirects")
        case CURLE_UNSUPPORTED_PROTOCOL where head.isOnTheWay && !hasAsked:
            return Failure(.redirect, "redirected to a scheme that is neither http nor https")
        case CURLE_UNSUPPORTED_PROTOCOL:
            // What libcurl says of an answer without a status line, as HTTP/0.9 had it.
            return Failure(.protocolError, "the server's answer is not HTTP")
        case CURLE_LOGIN_DENIED where head.isOnTheWay:
            return Failure(
                .redirect, "redirected to a URL with a user name or password, which are never sent")
        case CURLE_URL_MALFORMAT where head.isOnTheWay:
            return Failure(.redirect, "redirected to what is no URL to fetch: \(text)")
        case CURLE_URL_MALFORMAT:
            return Failure(.invalidURL, "not a URL to fetch: \(text)")
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE,
            CURLE_HTTP2_STREAM, CURLE_HTTP2:
            return Failure(.unreachable, "the connection was lost: \(text)")
        case CURLE_OUT_OF_MEMORY where !head.isComplete:
            // What libcurl says of a line of more than 100 kB.
            return .tooManyHeaders
        case CURLE_WRITE_ERROR where head.status != 200:
            return .http(head.status)
        default:
            return Failure(.protocolError, "the transfer failed: \(text)")
        }
    }

    /// X509_STORE_CTX_get_error(3).
    private static func certificate(_ problem: Int, _ text: String) -> Failure {
        let reason =
            switch problem {
            case 1: "is not for this host's name"
            case 9: "is not valid yet; is the clock of this machine right?"
            case 10: "has expired"
            case 18...21: "comes from nobody who is trusted; --ca-file trusts another authority"
            default: "is not acceptable (\(text)); --ca-file trusts another authority"
            }
        return Failure(.tls, "the server's certificate \(reason)")
    }
}
