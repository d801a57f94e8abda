internal import CCurl
import Glibc

/// A libcurl easy handle: options go in, callbacks and information come out. Not thread-safe: the transfer
/// loop's thread owns it. The handle is freed with its last owner. libcurl-easy(3).
final class CurlEasy {
    let handle: UnsafeMutableRawPointer
    /// Whether a callback paused the transfer. Only a transfer with a connection can be paused.
    var isPaused = false
    /// libcurl writes what it knows about an error.
    private let errorBuffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    /// Fails only if memory is exhausted. curl_easy_init(3).
    init() {
        guard let handle = curl_easy_init() else { preconditionFailure("out of memory in libcurl") }
        self.handle = handle
        errorBuffer.pointee = 0
        ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorBuffer)
    }

    deinit {
        curl_easy_cleanup(handle)
        errorBuffer.deallocate()
    }

    // MARK: Options

    func set(_ option: CURLoption, _ value: Int) throws(CurlError) {
        try check(ccurl_set_long(handle, option, value))
    }

    /// libcurl copies the text.
    func set(_ option: CURLoption, _ value: String) throws(CurlError) {
        // Passed directly, a Swift string would be copied once more.
        try check(value.withCString { ccurl_set_string(handle, option, $0) })
    }

    /// A pointer that libcurl passes to callbacks. It must outlive the transfer.
    func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) throws(CurlError) {
        try check(ccurl_set_pointer(handle, option, pointer))
    }

    /// libcurl does not copy the list, so it must outlive the transfer.
    func set(_ option: CURLoption, list: UnsafeMutablePointer<curl_slist>?) throws(CurlError) {
        try check(ccurl_set_list(handle, option, list))
    }

    func setData(_ option: CURLoption, _ callback: @escaping ccurl_data) throws(CurlError) {
        try check(ccurl_set_data(handle, option, callback))
    }

    /// A number of bytes.
    func set(_ option: CURLoption, bytes: Int64) throws(CurlError) {
        try check(ccurl_set_offset(handle, option, curl_off_t(bytes)))
    }

    /// Has TLS accept what browsers accept.
    func setTLS() { ccurl_set_tls(handle) }

    func setSeek(_ callback: @escaping ccurl_seek) throws(CurlError) {
        try check(ccurl_set_seek(handle, callback))
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

    private func check(_ code: CURLcode) throws(CurlError) {
        guard code == CURLE_OK else { throw CurlError(code: code) }
    }

    // MARK: Information

    /// What libcurl says about the error that ended the transfer; empty if nothing. CURLOPT_ERRORBUFFER(3).
    var errorText: String { String(cString: errorBuffer) }

    /// The URL of the latest request. CURLINFO_EFFECTIVE_URL(3).
    var effectiveURL: String? { text(CURLINFO_EFFECTIVE_URL) }

    /// Whether the connection is over TLS. CURLINFO_SCHEME(3).
    var isSecure: Bool { text(CURLINFO_SCHEME)?.lowercased() == "https" }

    /// Whether the response says that its body is a page. CURLINFO_CONTENT_TYPE(3).
    var isHTML: Bool { text(CURLINFO_CONTENT_TYPE)?.lowercased().hasPrefix("text/html") == true }

    /// Whether both ends of the connection agreed on HTTP/2. The cache uses HTTP/2 over TLS only.
    var speaksHTTP2: Bool { ccurl_agreed_on_http2(handle) != 0 }

    /// The local port of the connection; 0 before there is a connection. CURLINFO_LOCAL_PORT(3).
    var localPort: Int { number(CURLINFO_LOCAL_PORT) }

    /// Bytes of the body that arrived, before any content coding was undone. CURLINFO_SIZE_DOWNLOAD_T(3).
    var bodyBytes: Int64 {
        var bytes: curl_off_t = 0
        ccurl_get_offset(handle, CURLINFO_SIZE_DOWNLOAD_T, &bytes)
        return Int64(bytes)
    }

    /// The cookies of the handle, as lines of a Netscape cookie file. CURLINFO_COOKIELIST(3).
    var cookies: [String] {
        var list: UnsafeMutablePointer<curl_slist>?
        guard ccurl_get_list(handle, CURLINFO_COOKIELIST, &list) == CURLE_OK else { return [] }
        defer { curl_slist_free_all(list) }
        return sequence(first: list) { $0?.pointee.next }.prefix { $0 != nil }
            .compactMap { $0.flatMap { $0.pointee.data }.map { String(cString: $0) } }
    }

    /// OpenSSL's number for the fault of the peer's certificate. A certificate for another name has the number
    /// of an unspecified fault. CURLINFO_SSL_VERIFYRESULT(3), X509_STORE_CTX_get_error(3).
    var certificateProblem: Int { number(CURLINFO_SSL_VERIFYRESULT) }

    /// The status of the proxy's response to CONNECT; 0 without such a response.
    /// CURLINFO_HTTP_CONNECTCODE(3).
    var tunnelStatus: Int { number(CURLINFO_HTTP_CONNECTCODE) }

    /// Whether the address of the host was not found for the SOCKS proxy. CURLINFO_PROXY_ERROR(3).
    var lacksAddressForProxy: Bool {
        number(CURLINFO_PROXY_ERROR) == Int(CURLPX_RESOLVE_HOST.rawValue)
    }

    /// The file and the directory of certificates that libcurl trusts by default. CURLINFO_CAINFO(3),
    /// CURLINFO_CAPATH(3).
    var trustStore: TrustStore {
        TrustStore(file: text(CURLINFO_CAINFO), directory: text(CURLINFO_CAPATH))
    }

    private func text(_ information: CURLINFO) -> String? {
        var text: UnsafeMutableRawPointer?
        guard ccurl_get_pointer(handle, information, &text) == CURLE_OK, let text else {
            return nil
        }
        return String(cString: text.assumingMemoryBound(to: CChar.self))
    }

    private func number(_ information: CURLINFO) -> Int {
        var number = 0
        ccurl_get_long(handle, information, &number)
        return number
    }

    // MARK: Pausing

    /// Continues the transfer if a callback paused it. A result other than `CURLE_OK` ends the transfer.
    /// curl_easy_pause(3), which fails if the connection is gone.
    func resume() -> RequestEnd {
        guard isPaused else { return .completed }
        isPaused = false
        return RequestEnd(curl_easy_pause(handle, CURLPAUSE_CONT))
    }
}
