internal import CacheKey

/// The further requests of a download.
extension Download {
    /// Reused connections with stray data that one download gives up: a few idle ones, after which the new
    /// connections are no better.
    private static let strayLimit = 10

    /// The request ended. Returns whether the download plans another one.
    func plansAnotherRequest(after end: RequestEnd) -> Bool {
        if changesConnection(after: end) || continuesByProxy(after: end) { return true }
        guard hasToStartOver() || isOtherImageConfirmed else { return false }
        startOver()
        return true
    }

    private func changesConnection(after end: RequestEnd) -> Bool {
        guard request.failure == nil,
            request.metStrayData(end, isRepeated: strayConnections > 0)
        else { return false }
        strayConnections += 1
        guard strayConnections <= Self.strayLimit else {
            request.fail(.strayData)
            return false
        }
        plan.needsNewConnection = true
        return true
    }

    /// Whether a 304 is about another image than the entry, so that the image has to be requested without a
    /// condition.
    private var isOtherImageConfirmed: Bool {
        guard request.failure == nil, request.head.status == 304,
            case .conditional(let record) = entry
        else { return false }
        return confirmed(record) == nil
    }

    /// The entry's record after a 304; `nil` if the 304 is about another image.
    func confirmed(_ record: EntryRecord) -> EntryRecord? {
        record.confirmed(by: request.head, request.times, context.settings.caching)
    }

    // MARK: Proxies

    /// Plans the next step behind a proxy: after a lookup the proxy is asked, and after a redirect its target is
    /// looked up. See ``RequestRoute``.
    private func continuesByProxy(after end: RequestEnd) -> Bool {
        guard let proxy = context.settings.proxy, request.failure == nil else { return false }
        if request.route == .lookup {
            guard request.refusedAddress == nil else { return false }
            if let address = hiddenAddress, !context.settings.addressPolicy.permits(address) {
                request.fail(.addressRefused(address))
                return false
            }
            plan.route = .proxy(proxy)
        } else {
            guard end == .completed, request.head.isRedirect,
                let target = request.easy.redirectTarget
            else { return false }
            redirects += 1
            guard redirects <= context.settings.redirectLimit else {
                request.fail(.curl(.tooManyRedirects))
                return false
            }
            redirectTarget = target
            plan.route = .lookup
            plan.url = target
        }
        plan.head = ResponseHead(after: request.head)
        return true
    }

    /// The address that some proxies take the host's name for, although it is a name here.
    private var hiddenAddress: IPAddress? {
        CurlURL(redirectTarget ?? url.string)?.host.flatMap { IPAddress(hiddenIn: $0) }
    }
}
