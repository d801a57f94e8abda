internal import CacheKey
import HTTPCaching
internal import ImageFormats

/// The further requests of a download.
extension Download {
    /// Connections that one download gives up: a few idle ones, after which the new connections are no better.
    private static let changeLimit = 10

    /// Plans the same request by another connection, at once, if nothing but the connection was at fault.
    func changesConnection(after end: RequestEnd) -> Bool {
        guard request.failure == nil else { return false }
        let isStray = request.metStrayData(end, isRepeated: changedConnections > 0)
        let isLost = request.lostConnection(end, after: changedConnections)
        guard isStray || isLost || request.cameTooLate || request.metOnlySilence(end) else {
            return false
        }
        changedConnections += 1
        guard changedConnections <= Self.changeLimit else {
            if isStray { request.fail(.strayData) }
            return false
        }
        // libcurl uses a lost connection no more. The origin's other connections are as good as new ones.
        plan.needsNewConnection = !isLost
        return true
    }

    /// Plans the same request by HTTP/1.1 if HTTP/2 failed on its own account. HTTP/1.1 then shows whether the server or
    /// the image is at fault.
    func leavesHTTP2(after end: RequestEnd) -> Bool {
        guard request.mayUseHTTP2, request.brokeHTTP2(end) || mayBeCut(end) else { return false }
        if body != nil || answer == .startsOver {
            discardPartial()
            startOver()
        }
        times.answered = nil
        plan.leavesHTTP2 = true
        plan.needsNewConnection = true
        return true
    }

    /// Whether an HTTP/2 stream without a length can have been reset: the image does not show its own end.
    private func mayBeCut(_ end: RequestEnd) -> Bool {
        let head = request.head
        guard end == .completed, request.failure == nil, head.isMultiplexed, !head.isFramed,
            hasImage, resumed == nil
        else { return false }
        var inspector = inspector
        return body == nil || inspector.finish().completeness != .whole
    }

    /// Takes a 304. Returns whether it is about another image than the entry, so that the image has to be requested without
    /// a condition.
    func isOtherImageConfirmed() -> Bool {
        guard request.failure == nil, request.head.status == 304,
            case .conditional(let record) = entry
        else { return false }
        confirmedRecord = record.confirmed(by: request.head, request.times, rules)
        if isLocal { confirmedRecord?.isShareable = false }
        return confirmedRecord == nil
    }

    // MARK: Redirects

    /// Plans the request to the target of a redirect, however its body ended. The target's address is checked like
    /// that of the URL itself.
    func followsRedirect() -> Bool {
        guard let target = request.redirectTarget else { return false }
        redirects += 1
        guard redirects <= requests.settings.redirectLimit else {
            request.fail(.tooManyRedirects(requests.settings.redirectLimit))
            return false
        }
        guard !leavesTLS(for: target) else {
            request.fail(.redirectWithoutTLS)
            return false
        }
        redirectTarget = target
        plan.route = requests.settings.route(to: CurlURL(target)?.host)
        // As browsers do, for example with a signed URL of another host.
        if CurlURL(target)?.origin != CurlURL(plan.url)?.origin { plan.accountFields = [] }
        plan.url = target
        plan.leavesHTTP2 = false
        plan.cookies = request.easy.cookies
        plan.head = ResponseHead(after: request.head)
        return true
    }

    /// Whether a redirect leads from https to http, where anybody on the way could read the request and change the
    /// image.
    private func leavesTLS(for target: String) -> Bool {
        guard let url = CurlURL(plan.url), url.isSecure, let next = CurlURL(target) else {
            return false
        }
        return !next.isSecure
    }

    /// Plans a request whose body is taken as it is sent, because libcurl cannot undo its content coding: the
    /// bytes themselves show whether they are an image.
    func takesCodedBody(after end: RequestEnd) -> Bool {
        guard end == .failed(.badContentEncoding), request.failure == nil, request.head.isComplete,
            plan.decodesBody
        else { return false }
        discardPartial()
        startOver()
        plan.decodesBody = false
        return true
    }

    // MARK: Proxies

    /// Plans the request to the proxy after a lookup. See ``RequestRoute``.
    func asksProxy(after end: RequestEnd) -> Bool {
        guard let proxy = requests.settings.proxy, request.failure == nil, request.route == .lookup,
            request.refusedAddress == nil
        else { return false }
        if let address = hiddenAddress, !request.addressPolicy.permits(address) {
            request.fail(.addressRefused(address, isForGuests: request.isForGuests))
            return false
        }
        noteAddress()
        plan.route = .proxy(proxy)
        plan.head = ResponseHead(after: request.head)
        return true
    }

    /// The address that some proxies take the host's name for, although it is a name here.
    private var hiddenAddress: IPAddress? {
        CurlURL(redirectTarget ?? url.string)?.host.flatMap { IPAddress(hiddenIn: $0) }
    }
}
