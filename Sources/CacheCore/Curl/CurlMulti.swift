internal import CCurl
import Glibc

/// libcurl's multi handle: drives many easy handles and keeps their connections. Everything but
/// ``wakeUp()`` belongs to one thread. libcurl-multi(3).
///
/// libcurl says which sockets it waits for and is told what can be done on which, so that a turn costs what
/// happened, and not a look at every transfer. curl_multi_socket_action(3).
final class CurlMulti: @unchecked Sendable {
    // Unchecked: only the thread it belongs to uses anything but the watch.
    private var handle: UnsafeMutableRawPointer
    private let watch: SocketWatch
    /// What the last wait has found.
    private var ready: [SocketWatch.Ready] = []
    /// Those the kernel had no room to watch: libcurl looks at them by itself, again and again.
    private var unwatched: Set<Int32> = []
    /// Those that are being connected.
    private var connecting: Set<Int32> = []
    /// They are closed with the handle at the latest.
    let connections = Connections()

    /// Between two looks at sockets that can't be watched.
    private static let lookMilliseconds: Int32 = 10

    /// Fails where there are no descriptors to wait with.
    init() throws(CacheError) {
        watch = try SocketWatch()
        guard let handle = curl_multi_init() else { throw .noDescriptors(nil) }
        self.handle = handle
        adopt()
    }

    deinit {
        curl_multi_cleanup(handle)
    }

    /// Closes all connections, with which no transfer may be under way; options are to be set again.
    /// Where there is no other handle to be had, the connections stay.
    func renew() {
        guard let new = curl_multi_init() else { return }
        curl_multi_cleanup(handle)
        handle = new
        adopt()
    }

    /// Has libcurl say what it waits for. CURLMOPT_SOCKETFUNCTION(3).
    private func adopt() {
        let code = ccurl_multi_set_socket_changed(
            handle,
            { _, socket, what, owner, _ in
                Unmanaged<CurlMulti>.fromOpaque(owner!).takeUnretainedValue().waits(socket, what)
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        precondition(code == CURLM_OK, "libcurl refuses a callback: \(Self.text(code))")
    }

    private func waits(_ socket: Int32, _ what: Int32) {
        let (read, write) = (what & CURL_POLL_IN != 0, what & CURL_POLL_OUT != 0)
        unwatched.remove(socket)
        connecting.remove(socket)
        guard what != CURL_POLL_REMOVE, read || write else { return watch.forget(socket) }
        if !watch.watch(socket, read: read, write: write) { unwatched.insert(socket) }
        if write, !read { connecting.insert(socket) }
    }

    func set(_ option: CURLMoption, _ value: Int) {
        let code = ccurl_multi_set_long(handle, option, value)
        precondition(code == CURLM_OK, "libcurl refuses an option: \(Self.text(code))")
    }

    /// Begins a transfer. curl_multi_add_handle(3).
    func add(_ easy: CurlEasy) {
        let code = curl_multi_add_handle(handle, easy.handle)
        precondition(code == CURLM_OK, "a transfer can't be added: \(Self.text(code))")
    }

    /// Ends a transfer's part in it; its connection stays for others. curl_multi_remove_handle(3).
    func remove(_ easy: CurlEasy) {
        let code = curl_multi_remove_handle(handle, easy.handle)
        precondition(code == CURLM_OK, "a transfer can't be removed: \(Self.text(code))")
    }

    /// Does what can be done without waiting. curl_multi_socket_action(3).
    ///
    /// Before 8.4.0, libcurl goes on with the next address of a host only when it looks at the transfer
    /// again, and says of nothing that it has to: so all are looked at while any is being connected.
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
        if wasConnecting { lookAtAll() }
    }

    /// curl_multi_socket_all(3).
    private func lookAtAll() {
        var running: Int32 = 0
        let code = ccurl_multi_look_at_all(handle, &running)
        precondition(code == CURLM_OK, "libcurl can't go on: \(Self.text(code))")
    }

    private func act(on socket: Int32, _ flags: Int32) {
        var running: Int32 = 0
        let code = curl_multi_socket_action(handle, socket, flags, &running)
        precondition(code == CURLM_OK, "libcurl can't go on: \(Self.text(code))")
    }

    /// Milliseconds until libcurl has something to do by itself. curl_multi_timeout(3).
    private var timeout: Int? {
        var milliseconds = -1
        curl_multi_timeout(handle, &milliseconds)
        return milliseconds < 0 ? nil : milliseconds
    }

    /// Waits for a socket, a timer of libcurl's or ``wakeUp()``; what there is then is done by
    /// ``perform()``.
    func poll(milliseconds: Int32) {
        var limit = milliseconds
        if let timeout { limit = min(limit, Int32(clamping: timeout)) }
        if !unwatched.isEmpty { limit = min(limit, Self.lookMilliseconds) }
        ready = watch.wait(milliseconds: limit)
    }

    /// Ends a wait early; from any thread.
    func wakeUp() {
        watch.wakeUp()
    }

    /// The next transfer that ended, and how. curl_multi_info_read(3).
    func nextFinished() -> (handle: UnsafeMutableRawPointer, code: CURLcode)? {
        var waiting: Int32 = 0
        while let message = curl_multi_info_read(handle, &waiting) {
            guard message.pointee.msg == CURLMSG_DONE else { continue }
            return (message.pointee.easy_handle, ccurl_message_result(message))
        }
        return nil
    }

    private static func text(_ code: CURLMcode) -> String {
        String(cString: curl_multi_strerror(code))
    }
}
