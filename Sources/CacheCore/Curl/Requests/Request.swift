internal import CCurl

/// One HTTP request: a libcurl handle, its callbacks, and the head of the latest response. Belongs to the
/// transfer loop's thread.
///
/// The request checks heads and connections. Its delegate decides about the image and takes the body.
/// On a direct route libcurl follows redirects within the same request.
final class Request {
    let easy: CurlEasy
    let flight: FlightID
    let route: RequestRoute
    let environment: RequestEnvironment
    /// libcurl does not copy them.
    private let headers: RequestHeaders
    /// Outlives the request.
    unowned var delegate: (any RequestDelegate)?

    private(set) var head: ResponseHead
    private(set) var times: RequestTimes
    /// Why this side ended the request. libcurl reports only that a callback failed.
    private(set) var failure: Failure?
    /// Whether part of a wanted body arrived. Header lines that follow it are trailers.
    private(set) var isBodyBegun = false
    private var skippedBytes = 0
    /// The body's pieces so far, and their bytes.
    private var pieces: (count: Int, bytes: Int) = (0, 0)

    /// The way to the host that is asked next.
    var hop = Hop()
    /// Whether an address was tried since the latest response.
    var isConnecting = false
    /// Why the last address was not used, unless another address of the same host was.
    var refusedAddress: Failure?
    /// Whether the connection for the request had unread data, so that the request was not sent.
    var metUnreadData = false
    /// Whether the download was cancelled, and the request waits only for libcurl to finish a name lookup.
    var isAbandoned = false

    /// The way of a request to its host, to a proxy, or to the target of a redirect.
    struct Hop {
        /// When libcurl got the request, or when the redirect or the latest part of its body arrived.
        var began = ContinuousClock.now
        /// Whether the request was sent, or is about to be.
        var hasAsked = false
        /// Bytes of the redirect's body.
        var redirectBytes: Int64 = 0
    }

    /// A body that is not wanted is read up to this length, because that keeps the connection usable.
    static let skippedBodyLimit = 64 * 1024
    /// After this many pieces a body must have 16 bytes a piece on average. Small pieces cost as much as large
    /// ones, and libcurl stays with one transfer while pieces arrive.
    private static let tinyPieceLimit = 10_000
    private static let leastAveragePiece = 16

    init(_ plan: RequestPlan, _ environment: RequestEnvironment) throws(CurlError) {
        flight = plan.flight
        route = plan.route
        headers = plan.headers
        head = plan.head
        times = RequestTimes(sent: plan.firstSentAt, received: .now)
        self.environment = environment
        easy = CurlEasy()
        try easy.setCommonOptions(environment)
        try easy.setOptions(of: plan)
        try easy.setOwner(self)
    }

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
        guard head.length <= ResponseHead.maximumLength else {
            failure = .tooManyHeaders
            return false
        }
        if head.isComplete { headArrived() }
        return failure == nil
    }

    private func responseBegan() {
        if claimsHTTP2 { failure = .multiplexedUnasked }
        times.received = .now
        isConnecting = false
        noteHeard()
        if head.status == 304 { stopRedirectBy304() }
        delegate?.responseBegan(isMultiplexed: head.isMultiplexed)
    }

    private func headArrived() {
        if !head.redirects.isEmpty {
            head.source = easy.effectiveURL.map { ResponseSource(url: $0) }
        }
        if head.isRedirect, route == .direct { hop = Hop() }
        if head.hasTransferCoding {
            // This applies to every status, because libcurl would decode any body from its first byte on.
            failure = .transferCoding
        } else if head.hasTwoLengths, !head.isRedirect {
            failure = .twoLengths
        } else if let refusal = delegate?.refusal(of: head) {
            failure = refusal
        }
    }

    /// A piece of a response's body arrived.
    func receivedBody(_ bytes: UnsafeRawBufferPointer) -> WriteResult {
        if isPieceAfterRefusal { return .refused }
        pieces = (pieces.count + 1, pieces.bytes + bytes.count)
        guard
            pieces.count <= Self.tinyPieceLimit
                || pieces.bytes / pieces.count >= Self.leastAveragePiece
        else {
            failure = .tinyPieces
            return .refused
        }
        guard let delegate, delegate.wantsBody else { return skip(bytes.count) }
        isBodyBegun = true
        noteHeard()
        return delegate.received(bytes)
    }

    private func skip(_ count: Int) -> WriteResult {
        skippedBytes += count
        return maySkip(Int64(skippedBytes)) && skippedBytes <= Self.skippedBodyLimit
            ? .taken : .refused
    }

    /// libcurl received `count` bytes of the latest response's body, including bytes that it skips itself.
    /// Returns `false` to end the request.
    func maySkip(_ count: Int64) -> Bool {
        if 300..<400 ~= head.status, !isRedirectBodyShort(count) {
            failure = .longRedirect(Self.skippedBodyLimit)
        }
        return failure == nil
    }
}
