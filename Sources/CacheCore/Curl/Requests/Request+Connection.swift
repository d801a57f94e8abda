internal import CCurl
import CacheValues
import Glibc
import HTTPCaching
internal import SystemPackage

/// The connection of a request: which addresses it may lead to, and whether it is usable.
extension Request {
    /// Whether no address of the host is known yet, or the request waits for a connection that another
    /// request opens.
    var isResolving: Bool { !isConnecting && !hasAsked }

    /// Whether the request was sent, or was about to be.
    var hasAsked: Bool { askedAt != nil }

    /// When the request ends because it has no connection yet, no complete head, or no more of the body, whatever libcurl
    /// does. `nil` while the body waits for this side.
    ///
    /// The limit for the connection is a little longer than libcurl's own, so that libcurl reports what it
    /// counts itself.
    var deadline: ContinuousClock.Instant? {
        if let wholeEnd { return isComplete ? nil : wholeEnd }
        if head.isComplete { return stallEnd }
        let settings = environment.settings
        guard let askedAt else {
            return began + .seconds(settings.connectTimeout) + .milliseconds(500)
        }
        return askedAt + .seconds(settings.firstByteTimeout)
    }

    /// From now on libcurl ends the request if its body stalls. Before the head is complete ``deadline`` counts:
    /// a server may need long to make an image, but not to send it. CURLOPT_LOW_SPEED_TIME(3).
    func limitStalls() {
        set(CURLOPT_LOW_SPEED_TIME, environment.settings.stallTimeout)
    }

    /// Has the kernel acknowledge the head at once. A server that sends head and body in two small writes holds the
    /// second one back until then (RFC 896), and the kernel delays its acknowledgement by 40 ms.
    func acknowledge() {
        environment.connections.acknowledge(onLocalPort: easy.localPort)
    }

    /// Changes an option while the request runs. A failure ends the request.
    func set(_ option: CURLoption, _ value: Int) {
        do {
            try easy.set(option, value)
        } catch {
            fail(.curl(error))
        }
    }

    /// libcurl is about to connect. Returns a socket, or `CURL_SOCKET_BAD` to refuse the address.
    func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        guard !isAbandoned else { return CURL_SOCKET_BAD }
        let (target, port) = withUnsafePointer(to: &address.pointee.addr) {
            (IPAddress($0), IPAddress.port($0))
        }
        guard permits(target, port), !isSilent(target), hasPlace() else { return CURL_SOCKET_BAD }
        let made = socket(
            address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue),
            address.pointee.protocol)
        guard made >= 0 else {
            refusedAddress = .noSocket(Errno(rawValue: errno))
            return made
        }
        refusedAddress = nil
        isConnecting = true
        if let target { triedAddresses.append(target) }
        environment.connections.opened(made, to: origin)
        return made
    }

    private func permits(_ target: IPAddress?, _ port: UInt16) -> Bool {
        // The proxy's own address needs no permission.
        if case .proxy = route { return true }
        let isPermitted = target.map { addressPolicy.permits($0, port: port) } ?? false
        let refusal = Failure.addressRefused(target, port, isForGuests: isForGuests)
        // A lookup never gets a socket.
        if route == .lookup {
            noteAddress(target)
            if !isPermitted { refusedAddress = refusal }
            return false
        }
        // If another address of the host is tried, the failure of that address is reported instead.
        if !isPermitted, !isConnecting { refusedAddress = refusal }
        return isPermitted
    }

    /// The addresses that the request may lead to.
    var addressPolicy: AddressPolicy {
        let policy = environment.settings.addressPolicy
        return isForGuests ? policy.publicOnly : policy
    }

    private func noteAddress(_ address: IPAddress?) {
        guard environment.settings.keepsLocalImages else { return }
        if address.map(AddressPolicy.isPublic) != true { isLocal = true }
    }

    /// Whether the origin may have another connection. If it speaks HTTP/2 but permits only a few streams, libcurl opens a
    /// connection for each request that finds none free.
    private func hasPlace() -> Bool {
        isCrowded =
            mayUseHTTP2 && !needsNewConnection
            && environment.connections.areEnough(
                for: origin, limit: environment.settings.transfersPerHost)
        return !isCrowded
    }

    /// Whether libcurl lets the request wait for a connection that others have begun, because several could share it.
    func waitsForConnection(to origin: String) -> Bool {
        mayUseHTTP2 && !hasAsked && !isConnecting && self.origin == origin
    }

    /// Whether another address of the host is tried instead, because this one recently took no connection.
    private func isSilent(_ target: IPAddress?) -> Bool {
        guard route == .direct, let target, environment.servers.isSilent(target, of: host) else {
            return false
        }
        hasSkippedAddress = true
        return true
    }

    /// libcurl is about to send the request. Returns `false` to end it.
    func mayAsk(at address: String?, _ port: UInt16, onLocalPort localPort: Int) -> Bool {
        guard !isAbandoned else { return false }
        if route == .direct {
            let used = address.flatMap { IPAddress($0) }
            // Others may have opened the connection.
            if isForGuests, !permits(used, port) { return false }
            noteAddress(used)
            if triedAddresses.count > 1, let used {
                environment.servers.areSilent(triedAddresses.filter { $0 != used }, of: host)
            }
        }
        askedAt = .now
        if mayUseHTTP2, !easy.speaksHTTP2 { environment.servers.preferHTTP1(at: origin) }
        guard hasUnreadData(onLocalPort: localPort) else { return true }
        metUnreadData = true
        forbidReuse()
        return false
    }
}
