import CacheValues

/// Failures that are the proxy's.
extension Request {
    /// The failure to report if the proxy caused the error.
    func proxyFailure(_ error: CurlError) -> Failure? {
        switch (error, route) {
        case (_, .direct): nil
        case (.couldNotConnect, _):
            Failure(
                .unreachable, "no connection to the proxy could be made: is it running? (--proxy)")
        case (.proxyRefused, _) where easy.lacksAddressForProxy:
            Failure(
                .unresolved,
                "the host name does not resolve, and the proxy is asked for addresses; socks5h:// lets it look names up "
                    + "(--proxy)")
        case (.proxyRefused, _):
            Failure(
                .unreachable,
                "the proxy made no connection to the host: is it right, and the user and password? (--proxy, "
                    + "--proxy-login)")
        // The host's own certificate comes after the tunnel is made.
        case (.unverifiedPeer, .proxy) where easy.tunnelStatus == 0:
            Failure(
                .tls,
                "the proxy's certificate is not acceptable (--proxy); --ca-file adds an authority"
            )
        default: tunnelRefusal
        }
    }

    /// The failure to report if the proxy refused a tunnel to the host of an https URL.
    var tunnelRefusal: Failure? {
        guard case .proxy = route, case let status = easy.tunnelStatus, status >= 300 else {
            return nil
        }
        let advice =
            status == 407
            ? "it wants a user and a password (--proxy-login)" : "is the host permitted there?"
        return Failure(
            .http,
            "the proxy made no connection to the host, status \(status): \(advice) (--proxy)",
            httpStatus: status)
    }
}
