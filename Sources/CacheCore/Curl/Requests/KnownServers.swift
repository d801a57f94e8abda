/// Facts about servers that earlier requests found out. They are forgotten after a time, and with the process. Belongs to
/// the transfer loop's thread.
final class KnownServers {
    /// Origins that speak only HTTP/1.1, or brought by it what they did not bring by HTTP/2.
    private var withoutHTTP2 = ExpiringSet(time: .seconds(86_400))
    /// Those that nobody has acted upon yet.
    private var newWithoutHTTP2: [String] = []
    /// Hosts with addresses that took no connection when another address of the host did. libcurl keeps the addresses of
    /// a name for as long. CURLOPT_DNS_CACHE_TIMEOUT(3)
    private var silentAddresses = ExpiringSet(time: .seconds(60))

    // MARK: HTTP/2

    /// A connection turned out to be for HTTP/1.1, or a request succeeded by it after it had failed by HTTP/2.
    func preferHTTP1(at origin: String) {
        withoutHTTP2.insert(origin)
        newWithoutHTTP2.append(origin)
    }

    /// The origins of which that became known since the last call.
    func takeNewWithoutHTTP2() -> [String] {
        defer { newWithoutHTTP2.removeAll() }
        return newWithoutHTTP2
    }

    func prefersHTTP1(at origin: @autoclosure () -> String) -> Bool {
        !withoutHTTP2.isEmpty && withoutHTTP2.contains(origin())
    }

    // MARK: Addresses

    func isSilent(_ address: IPAddress, of host: String?) -> Bool {
        guard !silentAddresses.isEmpty, let host else { return false }
        return silentAddresses.contains("\(host) \(address)")
    }

    /// A connection was made, but not to these addresses, which were tried as well.
    func areSilent(_ addresses: [IPAddress], of host: String?) {
        guard let host else { return }
        for address in addresses { silentAddresses.insert("\(host) \(address)") }
    }

    /// The other addresses of some host failed as well.
    func forgetSilentAddresses() { silentAddresses.removeAll() }
}

/// Texts that are forgotten after a time, and all at once if there are too many.
private struct ExpiringSet {
    let time: Duration
    private var ends: [String: ContinuousClock.Instant] = [:]

    private static let limit = 4096

    init(time: Duration) { self.time = time }

    var isEmpty: Bool { ends.isEmpty }

    mutating func insert(_ text: String) {
        if ends.count >= Self.limit { ends.removeAll() }
        ends[text] = .now + time
    }

    mutating func contains(_ text: String) -> Bool {
        guard let end = ends[text] else { return false }
        if end <= .now { ends[text] = nil }
        return end > .now
    }

    mutating func removeAll() { ends.removeAll() }
}
