internal import CCurl

/// A URL as libcurl parses it. libcurl-url(3).
struct CurlURL: ~Copyable {
    private let handle: OpaquePointer

    /// `nil` if libcurl does not accept the text as a URL.
    init?(_ text: String) {
        guard let handle = curl_url() else { return nil }
        guard curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK else {
            curl_url_cleanup(handle)
            return nil
        }
        self.handle = handle
    }

    deinit {
        curl_url_cleanup(handle)
    }

    /// The absolute URL that a reference at this URL leads to; `nil` if it is not valid. Bytes that a URL cannot
    /// have are percent-encoded. RFC 3986 §5.
    func target(of reference: String) -> String? {
        guard let copy = curl_url_dup(handle) else { return nil }
        defer { curl_url_cleanup(copy) }
        let flags =
            UInt32(CURLU_URLENCODE) | UInt32(CURLU_ALLOW_SPACE) | UInt32(CURLU_NON_SUPPORT_SCHEME)
        guard curl_url_set(copy, CURLUPART_URL, reference, flags) == CURLUE_OK else { return nil }
        // No request contains the fragment (RFC 9110 §7.1).
        curl_url_set(copy, CURLUPART_FRAGMENT, nil, 0)
        return Self.part(CURLUPART_URL, 0, of: copy)
    }

    /// The host in the ASCII form that is looked up (Punycode), or as given if it has no such form.
    /// curl_url_get(3), `CURLU_PUNYCODE`.
    var host: String? { part(CURLUPART_HOST, UInt32(CURLU_PUNYCODE)) ?? part(CURLUPART_HOST, 0) }

    /// Whether a request to the URL is sent over TLS.
    var isSecure: Bool { part(CURLUPART_SCHEME, 0)?.lowercased() == "https" }

    /// The scheme, host and port, like `https://example.org`. The port is left out if it is the scheme's
    /// (RFC 6454 §4).
    var origin: String? {
        guard let scheme = part(CURLUPART_SCHEME, 0)?.lowercased(), let host = host?.lowercased()
        else {
            return nil
        }
        let port = part(CURLUPART_PORT, UInt32(CURLU_NO_DEFAULT_PORT)).map { ":\($0)" } ?? ""
        return "\(scheme)://\(host)\(port)"
    }

    private func part(_ part: CURLUPart, _ flags: UInt32) -> String? {
        Self.part(part, flags, of: handle)
    }

    private static func part(
        _ part: CURLUPart, _ flags: UInt32, of handle: OpaquePointer
    ) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
