internal import CCurl
internal import Synchronization

/// libcurl's multi handle: drives many easy handles and keeps their connections. Everything but
/// ``wakeUp()`` belongs to one thread. libcurl-multi(3).
final class CurlMulti: @unchecked Sendable {
    // Unchecked: the thread it belongs to is the only one that changes the pointer, under the lock that
    // others take to wake it.
    private var handle: UnsafeMutableRawPointer
    private let waking = Mutex<Void>(())
    /// They are closed with the handle at the latest.
    let connections = Connections()

    /// Fails where nothing can be had to wake it by.
    init() throws(CacheError) {
        guard let handle = Self.make() else { throw .noDescriptors(nil) }
        self.handle = handle
    }

    deinit {
        curl_multi_cleanup(handle)
    }

    /// A handle that can be woken: libcurl makes do without, and would then sleep through everything.
    private static func make() -> UnsafeMutableRawPointer? {
        guard let handle = curl_multi_init() else { return nil }
        guard curl_multi_wakeup(handle) == CURLM_OK else {
            curl_multi_cleanup(handle)
            return nil
        }
        return handle
    }

    /// Closes all connections, with which no transfer may be under way; options are to be set again.
    /// Where there is no other handle to be had, the connections stay.
    func renew() {
        guard let new = Self.make() else { return }
        waking.withLock { _ in
            curl_multi_cleanup(handle)
            handle = new
        }
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

    /// Does what can be done without waiting. curl_multi_perform(3).
    func perform() {
        var running: Int32 = 0
        let code = curl_multi_perform(handle, &running)
        precondition(code == CURLM_OK, "libcurl can't go on: \(Self.text(code))")
    }

    /// Waits for a socket, a timer of libcurl's or ``wakeUp()``. curl_multi_poll(3).
    func poll(milliseconds: Int32) {
        _ = curl_multi_poll(handle, nil, 0, milliseconds, nil)
    }

    /// Ends a wait early; from any thread. curl_multi_wakeup(3).
    func wakeUp() {
        waking.withLock { _ in _ = curl_multi_wakeup(handle) }
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
