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

    /// The host in the ASCII form that is looked up (Punycode), or as given if it has no such form.
    /// curl_url_get(3), `CURLU_PUNYCODE`.
    var host: String? { part(CURLUPART_HOST, UInt32(CURLU_PUNYCODE)) ?? part(CURLUPART_HOST, 0) }

    private func part(_ part: CURLUPart, _ flags: UInt32) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
