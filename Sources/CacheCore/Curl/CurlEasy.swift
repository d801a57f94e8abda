internal import CCurl
import Glibc

/// One transfer's libcurl handle: options go in, callbacks come out. Not thread-safe; owned by the
/// transfer loop's thread. Cleaned up with its last owner. libcurl-easy(3).
final class CurlEasy {
    let handle: UnsafeMutableRawPointer
    /// A callback paused it, which it can't do before there is a connection.
    var isPaused = false

    /// Fails only for want of memory. curl_easy_init(3).
    init() {
        guard let handle = curl_easy_init() else { preconditionFailure("out of memory in libcurl") }
        self.handle = handle
    }

    deinit {
        curl_easy_cleanup(handle)
    }

    func set(_ option: CURLoption, _ value: Int) throws(CurlError) {
        try check(ccurl_set_long(handle, option, value))
    }

    /// libcurl copies the text.
    func set(_ option: CURLoption, _ value: String) throws(CurlError) {
        // Handed over by itself, it would be copied once more.
        try check(value.withCString { ccurl_set_string(handle, option, $0) })
    }

    /// A pointer handed to callbacks; it must outlive the transfer.
    func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) throws(CurlError) {
        try check(ccurl_set_pointer(handle, option, pointer))
    }

    /// A list libcurl does not copy; it must outlive the transfer.
    func set(_ option: CURLoption, list: UnsafeMutablePointer<curl_slist>?) throws(CurlError) {
        try check(ccurl_set_list(handle, option, list))
    }

    func setData(_ option: CURLoption, _ callback: @escaping ccurl_data) throws(CurlError) {
        try check(ccurl_set_data(handle, option, callback))
    }

    func setOpenSocket(_ callback: @escaping ccurl_open_socket) throws(CurlError) {
        try check(ccurl_set_open_socket(handle, callback))
    }

    func setCloseSocket(_ callback: @escaping ccurl_close_socket) throws(CurlError) {
        try check(ccurl_set_close_socket(handle, callback))
    }

    func setBeforeRequest(_ callback: @escaping ccurl_before_request) throws(CurlError) {
        try check(ccurl_set_before_request(handle, callback))
    }

    func setProgress(_ callback: @escaping ccurl_progress) throws(CurlError) {
        try check(ccurl_set_progress(handle, callback))
        try set(CURLOPT_NOPROGRESS, 0)
    }

    /// Where the response redirects to, as an absolute URL. CURLINFO_REDIRECT_URL(3).
    var redirectTarget: String? { text(CURLINFO_REDIRECT_URL) }

    /// The URL that was asked for last. CURLINFO_EFFECTIVE_URL(3).
    var effectiveURL: String? { text(CURLINFO_EFFECTIVE_URL) }

    private func text(_ information: CURLINFO) -> String? {
        var text: UnsafeMutableRawPointer?
        guard ccurl_get_pointer(handle, information, &text) == CURLE_OK, let text else {
            return nil
        }
        return String(cString: text.assumingMemoryBound(to: CChar.self))
    }

    /// Whether the connection is over TLS. CURLINFO_SCHEME(3).
    var isSecure: Bool {
        var text: UnsafeMutableRawPointer?
        guard ccurl_get_pointer(handle, CURLINFO_SCHEME, &text) == CURLE_OK, let text else {
            return false
        }
        return strcasecmp(text.assumingMemoryBound(to: CChar.self), "https") == 0
    }

    /// Whether both ends of the connection agreed on HTTP/2, which there is over TLS only here.
    var speaksHTTP2: Bool { ccurl_agreed_on_http2(handle) != 0 }

    /// The port of this side of the connection; 0 before there is one. CURLINFO_LOCAL_PORT(3).
    var localPort: Int {
        var port = 0
        ccurl_get_long(handle, CURLINFO_LOCAL_PORT, &port)
        return port
    }

    /// What is wrong with the other side's certificate, by OpenSSL's numbers; that of what is not specified where it
    /// is for another name. CURLINFO_SSL_VERIFYRESULT(3), X509_STORE_CTX_get_error(3).
    var certificateProblem: Int {
        var problem = 0
        ccurl_get_long(handle, CURLINFO_SSL_VERIFYRESULT, &problem)
        return problem
    }

    /// What a proxy answered to CONNECT; 0 if none was asked for a tunnel. CURLINFO_HTTP_CONNECTCODE(3).
    var tunnelStatus: Int {
        var status = 0
        ccurl_get_long(handle, CURLINFO_HTTP_CONNECTCODE, &status)
        return status
    }

    /// Goes on if a callback paused it; what is not `CURLE_OK` ends the transfer. curl_easy_pause(3), which
    /// fails where there is no connection yet or no more.
    func resume() -> CURLcode {
        guard isPaused else { return CURLE_OK }
        isPaused = false
        return curl_easy_pause(handle, CURLPAUSE_CONT)
    }

    private func check(_ code: CURLcode) throws(CurlError) {
        guard code == CURLE_OK else { throw CurlError(code: code) }
    }
}

/// What libcurl returned. libcurl-errors(3).
struct CurlError: Error, CustomStringConvertible {
    let code: CURLcode

    var description: String { String(cString: curl_easy_strerror(code)) }
}
