internal import CCurl
import Glibc

/// libcurl's multi handle: it runs many easy handles and keeps their connections. Everything except
/// ``wakeUp()`` belongs to one thread. libcurl-multi(3).
///
/// libcurl reports which sockets it waits for, and is notified which of them are ready. So one round of the loop
/// costs as much as there are events, not as much as there are transfers. curl_multi_socket_action(3).
final class CurlMulti: @unchecked Sendable {
    // Unchecked: other threads use only the watch.
    private var handle: UnsafeMutableRawPointer
    private let watch: SocketWatch
    /// The sockets that the last wait found ready.
    private var ready: [SocketWatch.Ready] = []
    /// Sockets that the kernel could not watch. libcurl checks them itself, again and again.
    private var unwatched: Set<Int32> = []
    /// Sockets that are being connected.
    private var connecting: Set<Int32> = []
    /// All sockets of this handle. The last of them is closed with the handle.
    let connections: Connections
    /// Keeps the calls of libcurl short, once it is started.
    let receiveGuard = ReceiveGuard()

    /// Milliseconds between two checks of sockets that cannot be watched.
    private static let unwatchedInterval: Int32 = 10

    /// Fails if there are no descriptors left to wait with.
    init() throws(CacheError) {
        watch = try SocketWatch()
        guard let handle = curl_multi_init() else { throw .noDescriptors(nil) }
        self.handle = handle
        connections = Connections(receiveGuard)
        setSocketCallback()
    }

    deinit {
        curl_multi_cleanup(handle)
    }

    /// Closes all connections by replacing the handle; its options have to be set again. No transfer may be
    /// running. The connections stay open if no other handle can be created.
    func renew() {
        guard let new = curl_multi_init() else { return }
        curl_multi_cleanup(handle)
        handle = new
        setSocketCallback()
    }

    /// Sets how many idle connections are kept. Requests to the same host share a connection by HTTP/2 if they
    /// may.
    func configure(connections: Int) {
        set(CURLMOPT_MAXCONNECTS, connections)
        set(CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    }

    private func set(_ option: CURLMoption, _ value: Int) {
        let code = ccurl_multi_set_long(handle, option, value)
        precondition(code == CURLM_OK, "libcurl refuses an option: \(Self.text(code))")
    }

    /// libcurl and the libraries for TLS and HTTP/2. curl_version_info(3): curl_version(3) asks the resolver for this
    /// machine's name if libcurl was built with OpenLDAP, and a name server that does not answer holds it for 10 s.
    static let version: String = {
        let info = curl_version_info(CURLVERSION_SEVENTH).pointee
        func text(_ name: String, _ version: UnsafePointer<CChar>?) -> String? {
            version.map { name + String(cString: $0) }
        }
        let all = [
            text("libcurl/", info.version), text("", info.ssl_version),
            text("zlib/", info.libz_version), text("nghttp2/", info.nghttp2_version),
        ]
        return all.compactMap(\.self).joined(separator: " ")
    }()

    // MARK: Transfers

    /// Starts a transfer. curl_multi_add_handle(3).
    func add(_ easy: CurlEasy) {
        let code = curl_multi_add_handle(handle, easy.handle)
        precondition(code == CURLM_OK, "libcurl refuses a transfer: \(Self.text(code))")
    }

    /// Stops a transfer; its connection stays open for others. curl_multi_remove_handle(3).
    func remove(_ easy: CurlEasy) {
        let code = curl_multi_remove_handle(handle, easy.handle)
        precondition(code == CURLM_OK, "libcurl does not release a transfer: \(Self.text(code))")
    }

    /// The next transfer that ended, and how it ended. curl_multi_info_read(3).
    func nextFinished() -> (handle: UnsafeMutableRawPointer, end: RequestEnd)? {
        var waiting: Int32 = 0
        while let message = curl_multi_info_read(handle, &waiting) {
            guard message.pointee.msg == CURLMSG_DONE else { continue }
            return (message.pointee.easy_handle, RequestEnd(ccurl_message_result(message)))
        }
        return nil
    }

    // MARK: The loop

    /// Waits for a socket, for one of libcurl's timers or for ``wakeUp()``. ``perform()`` then does the work.
    func poll(milliseconds: Int32) {
        var limit = milliseconds
        if let timeout { limit = min(limit, Int32(clamping: timeout)) }
        if !unwatched.isEmpty { limit = min(limit, Self.unwatchedInterval) }
        ready = watch.wait(milliseconds: limit)
    }

    /// Ends a wait early. Any thread may call it.
    func wakeUp() {
        watch.wakeUp()
    }

    /// Does all work that needs no waiting. curl_multi_socket_action(3).
    ///
    /// While a socket is being connected, all transfers are checked: see the table in `Request+Quirks.swift`.
    func perform() {
        let wasConnecting = !connecting.isEmpty
        for socket in unwatched { act(on: socket, 0) }
        for socket in ready {
            let flags =
                (socket.canRead ? CURL_CSELECT_IN : 0) | (socket.canWrite ? CURL_CSELECT_OUT : 0)
                | (socket.hasFailed ? CURL_CSELECT_ERR : 0)
            act(on: socket.socket, flags)
        }
        ready = []
        if timeout == 0 { act(on: ccurl_socket_timeout, 0) }
        if wasConnecting { checkAll() }
    }

    /// curl_multi_socket_all(3).
    private func checkAll() {
        var running: Int32 = 0
        receiveGuard.enter()
        let code = ccurl_multi_check_all(handle, &running)
        receiveGuard.leave()
        precondition(code == CURLM_OK, "libcurl cannot continue: \(Self.text(code))")
    }

    private func act(on socket: Int32, _ flags: Int32) {
        var running: Int32 = 0
        receiveGuard.enter()
        let code = curl_multi_socket_action(handle, socket, flags, &running)
        receiveGuard.leave()
        precondition(code == CURLM_OK, "libcurl cannot continue: \(Self.text(code))")
    }

    /// Milliseconds until libcurl's next timer; `nil` without one. curl_multi_timeout(3).
    private var timeout: Int? {
        var milliseconds = -1
        curl_multi_timeout(handle, &milliseconds)
        return milliseconds < 0 ? nil : milliseconds
    }

    // MARK: Sockets

    /// Has libcurl report the sockets it waits for. CURLMOPT_SOCKETFUNCTION(3).
    private func setSocketCallback() {
        let code = ccurl_multi_set_socket_changed(
            handle,
            { _, socket, what, owner, _ in
                Unmanaged<CurlMulti>.fromOpaque(owner!).takeUnretainedValue()
                    .socketChanged(socket, what)
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        precondition(code == CURLM_OK, "libcurl refuses a callback: \(Self.text(code))")
    }

    private func socketChanged(_ socket: Int32, _ what: Int32) {
        let (read, write) = (what & CURL_POLL_IN != 0, what & CURL_POLL_OUT != 0)
        unwatched.remove(socket)
        connecting.remove(socket)
        guard what != CURL_POLL_REMOVE, read || write else { return watch.forget(socket) }
        if !watch.watch(socket, read: read, write: write) { unwatched.insert(socket) }
        if write, !read { connecting.insert(socket) }
    }

    private static func text(_ code: CURLMcode) -> String {
        String(cString: curl_multi_strerror(code))
    }
}
