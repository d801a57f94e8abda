internal import CCurl
internal import CacheKey

/// The header lines of a request, for as long as its transfer lives: those that every request has, and
/// its own.
final class RequestHeaders: Sendable {
    // Nobody changes the list, libcurl included. CURLOPT_HTTPHEADER(3)
    nonisolated(unsafe) fileprivate let list: UnsafeMutablePointer<curl_slist>?

    /// Those of most requests.
    static let usual = RequestHeaders([])

    init(_ fields: [RequestField]) {
        // `*/*` from everybody: what is stored may not depend on who asked first.
        list = (["Accept: */*"] + fields.map(\.line)).reduce(nil) { curl_slist_append($0, $1) }
    }

    deinit {
        curl_slist_free_all(list)
    }
}

/// Addresses that host names have without asking a name server, for as long as transfers live.
/// CURLOPT_RESOLVE(3).
final class Resolutions {
    fileprivate let list: UnsafeMutablePointer<curl_slist>?

    init(_ settings: TransferSettings) {
        list = settings.resolutions.reduce(nil) { curl_slist_append($0, $1) }
    }

    deinit {
        curl_slist_free_all(list)
    }
}

extension CurlEasy {
    /// Bytes a second below which libcurl counts a transfer as stalled.
    static let stallRate = 1024

    /// A handle set up for GETs, one after the other. Options that are not named keep libcurl's
    /// defaults: peers are verified, no cookies, no credentials. curl_easy_setopt(3).
    convenience init(
        _ settings: TransferSettings, _ resolutions: Resolutions, _ connections: Connections
    ) throws(CurlError) {
        self.init()
        try set(CURLOPT_NOSIGNAL, 1)
        // At the time limit a name that is still looked up is left to itself: to wait for it would hold up
        // every other download.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_MAXREDIRS, settings.redirectLimit)
        try set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        // No proxy from the environment: it would hide the address from the check when connecting.
        try set(CURLOPT_PROXY, "")
        // Nor a list of hosts that go without the one that is configured.
        try set(CURLOPT_NOPROXY, "")
        try set(CURLOPT_CONNECTTIMEOUT, settings.connectTimeout)
        try set(CURLOPT_LOW_SPEED_LIMIT, Self.stallRate)
        try set(CURLOPT_LOW_SPEED_TIME, settings.stallTimeout)
        // From 64 KiB on, free(3) tidies up the whole heap each time.
        try set(CURLOPT_BUFFERSIZE, 56 * 1024)
        try set(CURLOPT_USERAGENT, settings.userAgent)
        if let list = resolutions.list { try set(CURLOPT_RESOLVE, list: list) }
        if let file = settings.certificateFile { try trustOnly(file) }
        try setCallbacks()
        // Connections outlive the handle; the owner of all of them closes them.
        try setCloseSocket { owner, socket in
            Unmanaged<Connections>.fromOpaque(owner!).takeUnretainedValue().close(socket)
        }
        let owner = Unmanaged.passUnretained(connections).toOpaque()
        try set(CURLOPT_CLOSESOCKETDATA, pointer: owner)
    }

    /// The file in place of the system's authorities, for origins and the proxy.
    private func trustOnly(_ certificateFile: String) throws(CurlError) {
        for (file, directory) in [
            (CURLOPT_CAINFO, CURLOPT_CAPATH), (CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAPATH),
        ] {
            try set(file, certificateFile)
            try set(directory, pointer: nil)
        }
    }

    private func setCallbacks() throws(CurlError) {
        try setData(CURLOPT_HEADERFUNCTION) { bytes, size, count, owner in
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return Transfer.from(owner).receivedHeader(line) ? line.count : 0
        }
        try setData(CURLOPT_WRITEFUNCTION) { bytes, size, count, owner in
            let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
            let transfer = Transfer.from(owner)
            switch transfer.receivedBody(piece) {
            case .taken: return piece.count
            case .brokenOff: return 0
            case .postponed:
                transfer.easy.isPaused = true
                return Int(CURL_WRITEFUNC_PAUSE)
            }
        }
        try setProgress { owner, _, received, _, _ in
            Transfer.from(owner).mayReceive(Int64(received)) ? 0 : 1
        }
        try setOpenSocket { owner, _, address in
            Transfer.from(owner).openSocket(address!)
        }
        try setBeforeRequest { owner, _, _, _, localPort in
            let mayAsk = Transfer.from(owner).mayAsk(onLocalPort: Int(localPort))
            return mayAsk ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
    }

    /// Aims the handle at a transfer, which its loop keeps alive until it is over.
    func aim(at transfer: Transfer) throws(CurlError) {
        transfer.beginHop()
        try set(CURLOPT_URL, transfer.route?.target ?? transfer.url.percentEncoded)
        if let route = transfer.route {
            let proxy = transfer.context.settings.proxy ?? ""
            try set(CURLOPT_PROXY, route.step == .asking ? proxy : "")
        }
        // With a proxy redirects are followed one by one, see `ProxyRoute`.
        try set(CURLOPT_FOLLOWLOCATION, transfer.route == nil ? 1 : 0)
        try set(CURLOPT_HTTPHEADER, list: transfer.headers.list)
        try set(
            CURLOPT_HTTP_VERSION,
            transfer.mayMultiplex ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)
        // Over TLS it pays to wait for a handshake that may bring HTTP/2. Plain HTTP has nothing to wait
        // for, and libcurl 7.88 would send one request after the other.
        try set(CURLOPT_PIPEWAIT, transfer.mayMultiplex ? 1 : 0)
        let owner = Unmanaged.passUnretained(transfer).toOpaque()
        try set(CURLOPT_PRIVATE, pointer: owner)
        try set(CURLOPT_HEADERDATA, pointer: owner)
        try set(CURLOPT_WRITEDATA, pointer: owner)
        try set(CURLOPT_XFERINFODATA, pointer: owner)
        try set(CURLOPT_OPENSOCKETDATA, pointer: owner)
        try set(CURLOPT_PREREQDATA, pointer: owner)
        try set(CURLOPT_FRESH_CONNECT, transfer.surplusMet > 0 ? 1 : 0)
    }
}

extension Transfer {
    /// The transfer behind a callback's `userdata`.
    fileprivate static func from(_ owner: UnsafeMutableRawPointer?) -> Transfer {
        Unmanaged<Transfer>.fromOpaque(owner!).takeUnretainedValue()
    }

    /// The transfer a handle was set up for. CURLINFO_PRIVATE(3).
    static func owning(_ handle: UnsafeMutableRawPointer) -> Transfer? {
        var owner: UnsafeMutableRawPointer?
        guard ccurl_get_pointer(handle, CURLINFO_PRIVATE, &owner) == CURLE_OK else { return nil }
        return owner.map { from($0) }
    }
}

extension CacheURL {
    /// Whether the connection will be over TLS; schemes are case-insensitive (RFC 3986 §3.1).
    var isSecure: Bool {
        string.utf8.dropFirst(4).first.map { $0 | 0x20 } == UInt8(ascii: "s")
    }

    /// As it goes out: bytes beyond ASCII percent-encoded (RFC 3986 §2.5), the rest as given.
    var percentEncoded: String {
        guard string.utf8.contains(where: { $0 >= 0x80 }) else { return string }
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = string.utf8.flatMap { byte -> [UInt8] in
            guard byte >= 0x80 else { return [byte] }
            return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
