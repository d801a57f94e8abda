internal import CCurl
import Glibc
internal import SystemPackage

/// By which connection a download asks: which it may share or open, and which is given up.
extension Transfer {
    /// Connections with something unread on them that are given up for one download: a few idle ones, and then
    /// those that are made for it are no better.
    private static let surplusLimit = 10

    /// Whether it may share a connection. Without TLS there is no HTTP/2 here; where such an origin says there
    /// is, libcurl 7.88 believes it, and two responses get mixed up. What is held back to keep to a rate would
    /// pile up beside what is not.
    var mayMultiplex: Bool {
        url.isSecure && context.settings.maximumRate == nil && isSociable
    }

    /// Whether no address of its host is known yet, or it waits for a connection that another opens.
    var isResolving: Bool { !isConnecting && !hasAsked }

    /// It is on its way to a host that is to be found, connected to and asked: its own, a proxy, or where a
    /// redirect leads.
    func beginHop() {
        hopBegan = .now
        hasAsked = false
        redirectBytes = 0
    }

    /// For how long it has been on its way to the host it is to ask next; `nil` once it has asked.
    var wait: Duration? { hasAsked ? nil : hopBegan.duration(to: .now) }

    /// libcurl is about to connect: the socket, or `CURL_SOCKET_BAD` for an address that is refused.
    func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        guard !isAbandoned else { return CURL_SOCKET_BAD }
        let target = withUnsafePointer(to: &address.pointee.addr) { IPAddress($0) }
        guard permits(target) else { return CURL_SOCKET_BAD }
        let made = socket(
            address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue),
            address.pointee.protocol)
        guard made >= 0 else {
            refusal = .noSocket(Errno(rawValue: errno))
            return made
        }
        refusal = nil
        isConnecting = true
        connections.opened(made)
        return made
    }

    /// libcurl is about to send a request: whether the connection is good for it. What was said on one
    /// that was idle is no answer, unless it is one that several share.
    func mayAsk(onLocalPort port: Int) -> Bool {
        guard !isAbandoned else { return false }
        hasAsked = true
        guard !isConnecting, !easy.speaksHTTP2, connections.hasUnread(localPort: port)
        else { return true }
        meetSurplus()
        // Nobody else shall have it.
        try? easy.set(CURLOPT_FORBID_REUSE, 1)
        return false
    }

    /// What came for it came by a connection that is alive.
    func noteHearing() {
        guard head.isMultiplexed else { return }
        connections.heard(onLocalPort: easy.localPort)
    }

    /// The transfer is over with libcurl's `code`. Where it timed out on a connection that is silent for all,
    /// the next attempt has another.
    func leaveSilentConnection(_ code: CURLcode) {
        guard code == CURLE_OPERATION_TIMEDOUT, hasAsked, easy.isSecure else { return }
        connections.shutDownIfSilent(
            localPort: easy.localPort, for: .seconds(context.settings.stallTimeout))
    }

    /// The transfer is over with libcurl's `code`: whether it goes on by a new connection, where one that was
    /// there already had something on it, or what came by it is no response: it may be the late end of one to
    /// somebody else, as of a 304 whose server sends a body all the same.
    func goesOnByOtherConnection(_ code: CURLcode) -> Bool {
        guard ownFailure == nil else { return false }
        guard surplusMet == 0 else { return code == CURLE_ABORTED_BY_CALLBACK }
        guard code == CURLE_UNSUPPORTED_PROTOCOL, hasAsked, !isConnecting else { return false }
        meetSurplus()
        return true
    }

    private func meetSurplus() {
        surplusMet += 1
        if surplusMet > Self.surplusLimit { ownFailure = .surplus }
        if route == nil { head = ResponseHead() }
    }

    private func permits(_ target: IPAddress?) -> Bool {
        if let route { return permitsByProxy(target, route) }
        if let target, context.settings.addressPolicy.permits(target) { return true }
        // Where another address of the host is tried, what becomes of that is said.
        if !isConnecting { refusal = .addressRefused(target) }
        return false
    }
}
