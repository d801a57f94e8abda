internal import CCurl
import Glibc
internal import SystemPackage

/// The connection of a request: which addresses it may lead to, and whether it is usable.
extension Request {
    /// Whether no address of the host is known yet, or the request waits for a connection that another
    /// request opens.
    var isResolving: Bool { !isConnecting && !hop.hasAsked }

    /// How long the request has been on its way to the host it asks next; `nil` once it has asked.
    var waitingTime: Duration? { hop.hasAsked ? nil : hop.began.duration(to: .now) }

    /// libcurl is about to connect. Returns a socket, or `CURL_SOCKET_BAD` to refuse the address.
    func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        guard !isAbandoned else { return CURL_SOCKET_BAD }
        let target = withUnsafePointer(to: &address.pointee.addr) { IPAddress($0) }
        guard permits(target) else { return CURL_SOCKET_BAD }
        let made = socket(
            address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue),
            address.pointee.protocol)
        guard made >= 0 else {
            refusedAddress = .noSocket(Errno(rawValue: errno))
            return made
        }
        refusedAddress = nil
        isConnecting = true
        environment.connections.opened(made)
        return made
    }

    private func permits(_ target: IPAddress?) -> Bool {
        // The proxy's own address needs no permission.
        if case .proxy = route { return true }
        let isPermitted = target.map(environment.settings.addressPolicy.permits) ?? false
        // A lookup never gets a socket.
        if route == .lookup {
            if !isPermitted { refusedAddress = .addressRefused(target) }
            return false
        }
        // If another address of the host is tried, the failure of that address is reported instead.
        if !isPermitted, !isConnecting { refusedAddress = .addressRefused(target) }
        return isPermitted
    }

    /// libcurl is about to send the request. Returns `false` to end it.
    func mayAsk(onLocalPort port: Int) -> Bool {
        guard !isAbandoned else { return false }
        hop.hasAsked = true
        guard hasUnreadData(onLocalPort: port) else { return true }
        metUnreadData = true
        forbidReuse()
        return false
    }

    /// Part of a response arrived, so its connection works.
    func noteHeard() {
        guard head.isMultiplexed else { return }
        environment.connections.heard(onLocalPort: easy.localPort)
    }
}
