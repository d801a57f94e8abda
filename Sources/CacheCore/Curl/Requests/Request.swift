internal import CCurl
import CacheFetching
import CacheValues
import HTTPCaching

/// One HTTP request: a libcurl handle, its callbacks, and the head of the latest response. Belongs to the
/// transfer loop's thread.
///
/// The request checks heads and connections. Its delegate decides about the image and takes the body.
/// A redirect ends the request; the download follows it by another one.
final class Request {
    let easy: CurlEasy
    let flight: FlightID
    let route: RequestRoute
    let environment: RequestEnvironment
    /// libcurl does not copy them.
    private let headers: RequestHeaders
    /// Whether the fields say who asks.
    private let hasCredentials: Bool
    /// Outlives the request.
    unowned var delegate: (any RequestDelegate)?

    private(set) var head: ResponseHead
    private(set) var times: RequestTimes
    /// Why this side ended the request. libcurl reports only that a callback failed.
    private(set) var failure: Failure?
    /// Whether libcurl undoes the content codings of the body.
    private(set) var decodesBody: Bool
    /// Whether part of a wanted body arrived. Header lines that follow it are trailers.
    private(set) var isBodyBegun = false
    private var skippedBytes = 0
    /// Bytes of the body so far.
    private var bodyBytes = 0

    /// When libcurl got the request.
    let began = ContinuousClock.now
    /// When the request was sent, or was about to be; `nil` before that.
    var askedAt: ContinuousClock.Instant?
    /// Bytes that the connection had brought beside the response when they were first counted. Most requests end before.
    var receivedBefore: Int64?
    /// Whether an address was tried and no response has begun.
    var isConnecting = false
    /// The addresses that were tried, and whether others were not because they are known to be silent.
    var triedAddresses: [IPAddress] = []
    var hasSkippedAddress = false
    /// Whether no connection was made because the origin has enough of them.
    var isCrowded = false
    /// The host's name, and the origin, for ``KnownServers``.
    private(set) lazy var host = CurlURL(url)?.host
    private(set) lazy var origin = environment.origin(of: url)
    private let url: String
    /// Whether the request may share a connection with others, as HTTP/2 permits.
    let mayUseHTTP2: Bool
    private let leavesHTTP2: Bool
    let needsNewConnection: Bool
    /// Whether only public addresses are permitted, whatever the settings say.
    let isForGuests: Bool
    /// libcurl reads from it while the request runs.
    private var upload: UploadedFile?
    /// The time from ``began`` until the response has to be there. `nil` for the limits of the settings.
    private var patience: StorePatience?
    /// Why the last address was not used, unless another address of the same host was.
    var refusedAddress: Failure?
    /// Whether the host is at an address that means another host on another network.
    var isLocal = false
    /// Whether the connection for the request had unread data, so that the request was not sent.
    var metUnreadData = false
    /// When the last part of the response arrived.
    private var heardAt: ContinuousClock.Instant?
    /// Whether libcurl has received the whole response.
    var isComplete = false
    /// Whether the download was cancelled, and the request waits only for libcurl to finish a name lookup.
    var isAbandoned = false

    /// A body that is not wanted is read up to this length, because that keeps the connection usable.
    static let skippedBodyLimit = 64 * 1024

    init(_ plan: RequestPlan, _ environment: RequestEnvironment) throws(CurlError) {
        flight = plan.flight
        route = plan.route
        let account = plan.accountFields
        let names = account.map { $0.name.lowercased() }
        let origin = environment.origin(of: plan.url)
        let own = (environment.settings.originHeaders?.fields(for: origin) ?? [])
            .filter { !names.contains($0.name.lowercased()) }
        let fields = plan.fields + (plan.store?.fields ?? []) + account + own
        headers = fields.isEmpty ? .usual : RequestHeaders(fields)
        hasCredentials = (account + own).contains(where: \.isCredential)
        head = plan.head
        decodesBody = plan.decodesBody
        patience = plan.store?.patience
        times = RequestTimes(sent: plan.firstSentAt, received: .now)
        self.environment = environment
        (url, leavesHTTP2) = (plan.url, plan.leavesHTTP2)
        (needsNewConnection, isForGuests) = (plan.needsNewConnection, plan.isForGuests)
        // A lookup would wait for the tunnel of another request to the same host (CURLOPT_PIPEWAIT(3)).
        mayUseHTTP2 =
            plan.mayShareConnection && !plan.leavesHTTP2 && plan.route != .lookup
            && !environment.servers.prefersHTTP1(at: origin)
        easy = CurlEasy()
        try easy.setCommonOptions(environment)
        try easy.setOptions(of: plan, headers, mayUseHTTP2: mayUseHTTP2)
        if let store = plan.store { try easy.setOptions(of: store) }
        if case .put(let file, _) = plan.store?.method { upload = file }
        try easy.setOwner(self)
    }

    /// The absolute URL that the response redirects to, once its head is complete. A reference that is not valid
    /// stays as it is, so that the next request fails.
    var redirectTarget: String? {
        guard head.isComplete, head.isRedirect, failure == nil, let location = head.location,
            let url = easy.effectiveURL
        else { return nil }
        return CurlURL(url)?.target(of: location) ?? location
    }

    /// Whether the body arrives in another form than its bytes have here: libcurl undoes its content coding.
    var isDecoding: Bool { decodesBody && !head.contentCodings.isEmpty }

    /// Bytes of the body. `nil` if the response does not say it; the length of a coded body says nothing about
    /// the decoded one.
    var bodyLength: Int64? { isDecoding ? nil : head.contentLength }

    /// Ends the request with a failure of this side at libcurl's next callback.
    func fail(_ failure: Failure) {
        self.failure = failure
    }

    // MARK: Callbacks of libcurl

    /// A line of a response's head, or a trailer, arrived. Returns `false` to end the request.
    func receivedHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        if isTunnelResponse { return easy.tunnelStatus < 300 }
        if isBodyBegun {
            if repeatsResponse(line) { failure = .beganAgain }
            head.takeTrailer(line)
        } else if head.take(line) {
            responseBegan()
        }
        noteHeard(line.count)
        guard head.length <= ResponseHead.maximumLength else {
            failure = .tooManyHeaders
            return false
        }
        if head.isComplete { headArrived() }
        return failure == nil
    }

    /// When the request ends because its body stalls; `nil` while this side takes nothing. libcurl ends a body that is
    /// merely slow.
    var stallEnd: ContinuousClock.Instant? {
        guard !easy.isPaused, !isComplete else { return nil }
        return heardAt.map { $0 + .seconds(environment.settings.stallTimeout) }
    }

    /// When the response as a whole is late; `nil` if there is no such limit.
    var wholeEnd: ContinuousClock.Instant? {
        patience.map { began + $0.time(for: Int64(bodyBytes)) }
    }

    /// Gives a late response the time that others have by now. Returns whether it is not late then.
    func waits(with patience: StorePatience) -> Bool {
        self.patience = patience
        return wholeEnd.map { $0 > .now } ?? true
    }

    /// Gives a late response more time, once.
    func prolong(by time: Duration) {
        patience = patience.map {
            StorePatience(limit: began.duration(to: .now) + time, rate: $0.rate)
        }
    }

    private func responseBegan() {
        if claimsHTTP2 { failure = .multiplexedUnasked }
        times.received = .now
        isConnecting = false
        if head.isMultiplexed { environment.connections.speakHTTP2(to: origin) }
        delegate?.responseBegan(isMultiplexed: head.isMultiplexed)
    }

    private func headArrived() {
        if !head.redirects.isEmpty {
            head.source = easy.effectiveURL.map { ResponseSource(url: $0) }
        }
        head.isPersonal = hasCredentials
        heardAt = .now
        if leavesHTTP2 { environment.servers.preferHTTP1(at: origin) }
        limitStalls()
        if !head.hasKnownCodings { takeBodyAsSent() }
        if head.hasTransferCoding {
            // This applies to every status, because libcurl would decode any body from its first byte on.
            failure = .transferCoding
        } else if head.hasTwoLengths, !head.isRedirect {
            failure = .twoLengths
        } else if let refusal = delegate?.refusal(of: head) {
            failure = refusal
        }
    }

    /// A coding that nobody knows is no coding: the bytes themselves show whether they are an image.
    private func takeBodyAsSent() {
        decodesBody = false
        set(CURLOPT_HTTP_CONTENT_DECODING, 0)
    }

    /// A piece of a response's body arrived.
    func receivedBody(_ bytes: UnsafeRawBufferPointer) -> WriteResult {
        if isPieceAfterRefusal { return .refused }
        bodyBytes += bytes.count
        noteHeard(bytes.count)
        heardAt = .now
        guard let delegate, delegate.wantsBody else { return skip(bytes.count) }
        isBodyBegun = true
        return delegate.received(bytes)
    }

    private func skip(_ count: Int) -> WriteResult {
        skippedBytes += count
        return failure == nil && skippedBytes <= Self.skippedBodyLimit ? .taken : .refused
    }
}
