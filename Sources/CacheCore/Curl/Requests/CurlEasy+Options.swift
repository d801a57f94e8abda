internal import CCurl

extension CurlEasy {
    /// Bytes a second below which libcurl counts a transfer as stalled.
    static let stallRate = 1024

    /// Sets the options that all requests have. Options that are not named keep libcurl's defaults: it verifies
    /// peers, follows no redirects, and sends no credentials. curl_easy_setopt(3).
    func setCommonOptions(_ environment: RequestEnvironment) throws(CurlError) {
        let settings = environment.settings
        try set(CURLOPT_NOSIGNAL, 1)
        // After a timeout libcurl does not wait for the name lookup, which would delay all other downloads.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        // The environment's list of hosts without a proxy does not apply.
        try set(CURLOPT_NOPROXY, "")
        try set(CURLOPT_CONNECTTIMEOUT, settings.connectTimeout)
        try set(CURLOPT_LOW_SPEED_LIMIT, Self.stallRate)
        // For blocks of 64 KiB and more, free(3) consolidates the whole heap each time.
        try set(CURLOPT_BUFFERSIZE, 32 * 1024)
        try set(CURLOPT_USERAGENT, settings.userAgent)
        // libcurl sends the field, and undoes every coding that it knows. RFC 9110 §12.5.3, §8.4.
        try set(CURLOPT_ACCEPT_ENCODING, "identity")
        // Keeps the cookies of this request only; see `RequestPlan.cookies`.
        try set(CURLOPT_COOKIEFILE, "")
        if let list = environment.resolutions.list { try set(CURLOPT_RESOLVE, list: list) }
        if let file = settings.certificateFile {
            try trust(file, alone: settings.trustsOnlyCertificateFile)
        }
        setTLS()
        try setCallbacks()
        // Connections outlive the handle, so their owner closes them.
        try setCloseSocket { owner, socket in
            Unmanaged<Connections>.fromOpaque(owner!).takeUnretainedValue().close(socket)
        }
        let owner = Unmanaged.passUnretained(environment.connections).toOpaque()
        try set(CURLOPT_CLOSESOCKETDATA, pointer: owner)
    }

    /// Trusts the authorities in the file, for origins and for the proxy. Those of the system stay trusted by
    /// their directory, unless the file stands alone. CURLOPT_CAINFO(3), CURLOPT_CAPATH(3).
    private func trust(_ certificateFile: String, alone: Bool) throws(CurlError) {
        for (file, directory) in [
            (CURLOPT_CAINFO, CURLOPT_CAPATH), (CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAPATH),
        ] {
            try set(file, certificateFile)
            if alone { try set(directory, pointer: nil) }
        }
    }

    /// Sets the options that differ between requests.
    ///
    /// - Parameter mayUseHTTP2: whether the request may share a connection with others.
    func setOptions(
        of plan: RequestPlan, _ headers: RequestHeaders, mayUseHTTP2: Bool
    ) throws(CurlError) {
        try set(CURLOPT_URL, plan.url)
        // Without a proxy the option must be empty: a proxy from the environment would hide the host's address
        // from the check.
        if case .proxy(let proxy) = plan.route {
            try set(CURLOPT_PROXY, proxy.url)
            if let login = proxy.login {
                try set(CURLOPT_PROXYUSERNAME, login.user)
                try set(CURLOPT_PROXYPASSWORD, login.password)
            }
        } else {
            try set(CURLOPT_PROXY, "")
        }
        for cookie in plan.cookies { try set(CURLOPT_COOKIELIST, cookie) }
        if !plan.decodesBody { try set(CURLOPT_HTTP_CONTENT_DECODING, 0) }
        try set(CURLOPT_HTTPHEADER, list: headers.list)
        try set(
            CURLOPT_HTTP_VERSION,
            mayUseHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)
        // Over TLS a request waits for a handshake that may lead to HTTP/2. Plain HTTP has nothing to wait for.
        try set(CURLOPT_PIPEWAIT, mayUseHTTP2 ? 1 : 0)
        try set(CURLOPT_FRESH_CONNECT, plan.needsNewConnection ? 1 : 0)
    }

    /// Directs the callbacks to a request. It must live as long as the transfer.
    func setOwner(_ request: Request) throws(CurlError) {
        let owner = Unmanaged.passUnretained(request).toOpaque()
        try set(CURLOPT_PRIVATE, pointer: owner)
        try set(CURLOPT_HEADERDATA, pointer: owner)
        try set(CURLOPT_WRITEDATA, pointer: owner)
        try set(CURLOPT_OPENSOCKETDATA, pointer: owner)
        try set(CURLOPT_PREREQDATA, pointer: owner)
    }

    private func setCallbacks() throws(CurlError) {
        try setData(CURLOPT_HEADERFUNCTION) { bytes, size, count, owner in
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return Request.from(owner).receivedHeader(line) ? line.count : 0
        }
        try setData(CURLOPT_WRITEFUNCTION) { bytes, size, count, owner in
            let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
            let request = Request.from(owner)
            switch request.receivedBody(piece) {
            case .taken: return piece.count
            case .refused: return 0
            case .paused:
                request.easy.isPaused = true
                return Int(CURL_WRITEFUNC_PAUSE)
            }
        }
        try setOpenSocket { owner, _, address in
            Request.from(owner).openSocket(address!)
        }
        try setBeforeRequest { owner, address, _, port, localPort in
            let mayAsk = Request.from(owner).mayAsk(
                at: address.map { String(cString: $0) }, UInt16(clamping: port),
                onLocalPort: Int(localPort))
            return mayAsk ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
    }
}

extension Request {
    /// The request behind the user data of a callback.
    fileprivate static func from(_ owner: UnsafeMutableRawPointer?) -> Request {
        Unmanaged<Request>.fromOpaque(owner!).takeUnretainedValue()
    }

    /// The request that a handle belongs to. CURLINFO_PRIVATE(3).
    static func owning(_ handle: UnsafeMutableRawPointer) -> Request {
        var owner: UnsafeMutableRawPointer?
        let code = ccurl_get_pointer(handle, CURLINFO_PRIVATE, &owner)
        precondition(code == CURLE_OK && owner != nil, "libcurl has a handle without a request")
        return from(owner)
    }
}
