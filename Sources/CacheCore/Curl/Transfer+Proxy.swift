internal import CCurl
internal import CacheKey

/// A download through the configured proxy.
///
/// The proxy resolves the host's name and opens the connection, where no address can be refused. So each
/// URL on the way is looked up here first, by a request that never gets a socket: libcurl resolves the
/// name and offers its addresses. One that may not be connected to ends the download. A name only the
/// proxy can resolve can't be judged. Redirects are followed one by one for the same reason.
struct ProxyRoute {
    enum Step {
        /// The name of the URL's host is being resolved, nothing is sent.
        case lookingUp
        /// The proxy is asked.
        case asking
    }

    var step = Step.lookingUp
    /// Where a redirect led; `nil` for the URL itself.
    var target: String?
    var hops = 0
}

extension Transfer {
    /// Whether a transfer that was over goes on with another request: the proxy is asked for what was
    /// looked up, or a redirect is followed.
    func continuesByProxy(_ code: CURLcode) -> Bool {
        guard var route, ownFailure == nil else { return false }
        switch route.step {
        case .lookingUp:
            guard refusal == nil else { return false }
            if let address = hiddenAddress(route), !context.settings.addressPolicy.permits(address)
            {
                ownFailure = .addressRefused(address)
                return false
            }
            route.step = .asking
        case .asking:
            guard code == CURLE_OK, head.isRedirect, let next = easy.redirectTarget
            else { return false }
            route.hops += 1
            guard route.hops <= context.settings.redirectLimit else {
                ownFailure = .curl(CURLE_TOO_MANY_REDIRECTS)
                return false
            }
            route.step = .lookingUp
            route.target = next
        }
        self.route = route
        head = ResponseHead(after: head)
        uselessBytes = 0
        isBodyBegun = false
        return true
    }

    /// The address that a host is for some proxies, though it is a name here, and perhaps of nobody.
    private func hiddenAddress(_ route: ProxyRoute) -> IPAddress? {
        CurlURL(route.target ?? url.string)?.host.flatMap { IPAddress(hiddenIn: $0) }
    }

    /// What a socket is opened for where a proxy is configured: none while a name is looked up, any for
    /// the proxy itself.
    func permitsByProxy(_ target: IPAddress?, _ route: ProxyRoute) -> Bool {
        guard route.step == .lookingUp else { return true }
        if let target, context.settings.addressPolicy.permits(target) { return false }
        refusal = .addressRefused(target)
        return false
    }

    /// Why nothing came through the proxy, where that was the proxy's doing.
    func proxyFailure(_ code: CURLcode) -> Failure? {
        guard let route else { return nil }
        switch code {
        case CURLE_COULDNT_CONNECT:
            return Failure(
                .unreachable, "no connection to the proxy could be made: is it running? (--proxy)")
        case CURLE_PEER_FAILED_VERIFICATION where route.step == .asking && easy.tunnelStatus == 0:
            // The host's comes behind the tunnel.
            return Failure(
                .tls,
                "the proxy's certificate is not acceptable (--proxy); --ca-file trusts another authority"
            )
        default: return tunnelRefusal
        }
    }

    /// Why the proxy made no tunnel to a https URL's host, if it was asked for one and made none.
    var tunnelRefusal: Failure? {
        guard route?.step == .asking, case let status = easy.tunnelStatus, status >= 300 else {
            return nil
        }
        let advice =
            status == 407
            ? "it wants credentials, which are never sent" : "is the host permitted there?"
        return Failure(
            .http,
            "the proxy made no connection to the host, status \(status): \(advice) (--proxy)",
            httpStatus: status)
    }
}
