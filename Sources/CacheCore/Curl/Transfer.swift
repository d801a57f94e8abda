internal import CCurl
internal import CacheKey
internal import SystemPackage

/// One download on its way into a partial: libcurl's callbacks end here. Belongs to the transfer
/// loop's thread.
///
/// Size, media type and dimensions are taken from the bytes as they pass, and so is the digest of what is
/// written to a partial; that of a small image is left to the directory's thread. Only a partial that is
/// continued is read again, while its origin is asked for the rest; see `Transfer+Resuming`.
final class Transfer {
    let id: FlightID
    let key: CacheKey
    let url: CacheURL
    /// The handle of the request that is made now.
    var easy: CurlEasy
    let context: TransferContext
    let connections: Connections
    private let pace: RateLimiter
    var headers = RequestHeaders.usual
    /// The entry that is there already, and whether the origin is asked about it.
    var question = Question.new
    var head = ResponseHead()
    var times = RequestTimes(sent: .now, received: .now)
    /// A partial of no use may lie under its name.
    var mayReplacePartial = false
    /// What came of the image, once any did.
    var body: ReceivedBody?
    /// Of all that is in the partial.
    var digest: SHA256?
    private var inspector = ImageInspector()
    /// Bytes of the image that are there.
    var received: Int64 = 0
    /// The partial that is continued, or will be if the origin agrees.
    var resting: ResumablePartial?
    /// Bytes of it that were read again.
    var reread: Int64 = 0
    /// It is not what it was.
    var isSpoilt = false
    /// Was cancelled, and waits for nothing but libcurl.
    var isAbandoned = false
    /// The host it is on its way to was sent a request, or was about to be.
    var hasAsked = false
    /// Bytes there is room for.
    private var granted: Int64 = 0
    /// When libcurl was given its request, or a redirect led on, or came more of that.
    var hopBegan = ContinuousClock.now
    /// Bytes of that redirect's body.
    var redirectBytes: Int64 = 0
    /// Bytes there is no room for yet, where others share its connection: what comes for it would pile up in
    /// memory. Its request ends; another is made once there is.
    private(set) var lacking: Int64?
    /// Whether it may share one at all.
    let isSociable: Bool
    /// What came by HTTP/2 does not show that it is all there; HTTP/1.1 would tell.
    private(set) var needsFraming = false
    /// Why the transfer was broken off from this side; libcurl only sees a failed callback.
    var ownFailure: Failure?
    /// The last address that was refused, where none of the same host could be tried.
    var refusal: Failure?
    /// An address is or was tried since the last response.
    var isConnecting = false
    /// How often a connection that was there already had something unread on it; another was asked for.
    var surplusMet = 0
    /// It is known how long the image will be, if anybody said.
    var isHeadTold = false
    /// Some of an image was there: what comes behind it are trailers.
    var isBodyBegun = false
    /// How far a download through a proxy is; `nil` where there is none.
    var route: ProxyRoute?
    var uselessBytes = 0
    /// Pieces of the body so far, and bytes in them.
    private var pieces: (count: Int, bytes: Int) = (0, 0)
    /// The first response began: that of the host the URL names, before any redirect.
    var isAnswered = false

    /// An error page shorter than this is read to its end, which keeps the connection usable.
    private static let errorBodyLimit = 64 * 1024
    /// Pieces of a body that may be of less than 16 bytes on average: they cost as much as large ones, and
    /// libcurl goes on with one transfer for as long as there are more.
    private static let smallPieceLimit = 10_000

    init(
        _ id: FlightID, _ key: CacheKey, _ url: CacheURL, _ easy: CurlEasy,
        _ context: TransferContext, _ connections: Connections, _ pace: RateLimiter,
        isSociable: Bool
    ) {
        self.id = id
        self.key = key
        self.url = url
        self.easy = easy
        self.context = context
        self.connections = connections
        self.pace = pace
        self.isSociable = isSociable
        route = context.settings.proxy.map { _ in ProxyRoute() }
    }

    // MARK: From libcurl

    /// A line of the head arrived; `false` breaks off.
    func receivedHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        if route?.step == .asking, !hasAsked {
            // Of a refusal libcurl would read the body, however long it is, and do nothing else.
            return easy.tunnelStatus < 300
        }
        if isBodyBegun {
            if head.isMultiplexed, line.isStatusLine { ownFailure = .begunAgain }
            head.takeTrailer(line)
        } else if head.take(line) {
            // libcurl 7.88 believes it, and would mix up the responses to several requests.
            if head.isMultiplexed, !easy.speaksHTTP2 { ownFailure = .multiplexedUnasked }
            times.received = .now
            isConnecting = false
            noteHearing()
            // It is no redirect, though libcurl follows any 3xx (RFC 9110 §15.4.5).
            if head.status == 304 { try? easy.set(CURLOPT_FOLLOWLOCATION, 0) }
        }
        if head.isComplete, !head.redirects.isEmpty {
            head.source = easy.effectiveURL.map { ResponseSource(url: $0) }
        }
        if !isAnswered {
            isAnswered = true
            // A host that is asked without TLS has never answered by HTTP/2.
            if url.isSecure { context.onAnswered(id, head.isMultiplexed) }
        }
        guard head.length <= ResponseHead.maximumLength else {
            ownFailure = .tooManyHeaders
            return false
        }
        if head.isComplete, head.isRedirect, route == nil { beginHop() }
        if head.isComplete, head.hasTransferCoding {
            // Whatever its status, and before its first byte.
            ownFailure = .transferCoding
        } else if head.isComplete, head.hasTwoLengths, !head.isRedirect {
            ownFailure = .twoLengths
        } else if head.isComplete, head.status == 200, let length = head.contentLength,
            length > Self.detachedLimit
        {
            // At once: the body may be long in coming. A short one is asked for at its first byte.
            ownFailure = context.refusal(key, id, length)
        }
        return ownFailure == nil
    }

    /// What becomes of a piece of the body.
    enum Reception {
        case taken
        case brokenOff
        /// There is no room now, or it came too soon; libcurl will offer it again.
        case postponed
    }

    /// A piece of the body arrived.
    func receivedBody(_ bytes: UnsafeRawBufferPointer) -> Reception {
        // libcurl 7.88 may go on after a piece it had held back was refused; that piece is lost.
        guard ownFailure == nil, lacking == nil else { return .brokenOff }
        pieces = (pieces.count + 1, pieces.bytes + bytes.count)
        guard pieces.count <= Self.smallPieceLimit || pieces.bytes / pieces.count >= 16 else {
            ownFailure = .crumbs
            return .brokenOff
        }
        guard body != nil || hasImage else {
            uselessBytes += bytes.count
            return mayReceive(Int64(uselessBytes)) && uselessBytes <= Self.errorBodyLimit
                ? .taken : .brokenOff
        }
        isBodyBegun = true
        noteHearing()
        do {
            if body == nil { try checkHead() }
            guard try mayTake(bytes.count) else {
                return lacking == nil ? .postponed : .brokenOff
            }
            if body == nil { try begin() }
            try take(bytes)
            return .taken
        } catch is PartialChanged {
            isSpoilt = true
        } catch let failure as Failure {
            ownFailure = failure
        } catch let cause as Errno {
            notStored(cause)
        } catch {
            ownFailure = Failure(.storage, "\(error)")
        }
        return .brokenOff
    }

    /// So many bytes of the body of this response have come, be it that libcurl passes over them: those of a
    /// redirect it follows.
    func mayReceive(_ count: Int64) -> Bool {
        guard 300..<400 ~= head.status else { return ownFailure == nil }
        if count > redirectBytes, !isConnecting {
            redirectBytes = count
            hopBegan = .now
        }
        guard count > Self.errorBodyLimit else { return ownFailure == nil }
        ownFailure = Failure(
            .redirect, "the redirect has a body of more than \(Self.errorBodyLimit) bytes")
        return false
    }

    /// What the head promises is checked before anything is written.
    private func checkHead() throws {
        if let encoding = head.contentEncoding {
            throw Failure(
                .protocolError,
                "the body is encoded as \(encoding.cut(toBytes: 100)), which was not asked for")
        }
        if answer == .startsOver { forgetPartial() }
    }

    /// Whether it is time for so many bytes more.
    private func mayTake(_ count: Int) throws -> Bool {
        try !isRereading && hasRoom(for: count)
            && pace.admits(count, of: id, in: context.lane(key, id), now: .now)
    }

    /// Whether there is room for so many bytes more; asks for it where it is not granted yet.
    private func hasRoom(for count: Int) throws -> Bool {
        let needed = received + Int64(count)
        guard needed > granted else { return true }
        switch context.roomFor(key, id, needed, length) {
        case .granted(let bytes):
            granted = bytes
            return true
        case .refused(let failure): throw failure
        case .wait: if head.isMultiplexed { lacking = needed }
        case .again: break
        }
        return false
    }

    /// The first byte of an image, or of its rest, which goes into the partial that is there.
    private func begin() throws {
        if let resting {
            body = .file(try unspoilt(resting))
        } else {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(min(Int(clamping: length ?? 0), Self.detachedLimit))
            body = .bytes(bytes)
            inspector = ImageInspector()
            // What lies there has to make way now: its room is counted no more.
            if mayReplacePartial { try beginPartial() }
        }
    }

    /// Makes ready to read a partial from its first byte on.
    func beginReading() {
        digest = SHA256()
        inspector = ImageInspector()
    }

    /// Looks at the next bytes of the image.
    func read(_ bytes: UnsafeRawBufferPointer) {
        digest?.update(bytes)
        inspector.consume(bytes)
    }

    private func take(_ bytes: UnsafeRawBufferPointer) throws {
        if let end = resting?.resumption.end(of: head) ?? length,
            received + Int64(bytes.count) > end
        {
            throw Failure(
                .protocolError, "the server sent more than the \(end) bytes it promised")
        }
        if body?.held(bytes, atMost: Self.detachedLimit) != true {
            try beginPartial()
            try body?.file?.append(bytes, makeRoom: { makesRoom(for: bytes.count) })
        }
        read(bytes)
        received += Int64(bytes.count)
        if let type = inspector.mediaType, !context.settings.accepts(type) {
            throw Failure.notAccepted(type)
        }
        if !hasUnwritten { tellProgress() }
    }

    // MARK: The end

    /// The transfer is over with libcurl's `code`: a staged image, or why there is none. The partial
    /// stays where more of it could still be had.
    func finish(_ code: CURLcode) -> Result<StagedImage, Failure> {
        if let failure = ownFailure {
            if [.storage, .timeout].contains(failure.kind) {
                leaveBehind()
            } else {
                discardPartial()
            }
            return .failure(failure)
        }
        if code == CURLE_COULDNT_CONNECT, let refusal { return .failure(refusal) }
        // Whatever became of its body.
        if head.isFailure, !hasImage, answer != .isWhole { return .failure(.http(head.status)) }
        // A 416 has said all with its head.
        guard code == CURLE_OK || head.isComplete && answer == .isWhole else {
            leaveBehind()
            return .failure(
                proxyFailure(code)
                    ?? .curl(
                        code, received, length, head, hasAsked: hasAsked,
                        certificateProblem: easy.certificateProblem))
        }
        guard body != nil || hasImage else { return .failure(.http(head.status)) }
        // Another image, and nothing came of it.
        if answer == .startsOver, body == nil {
            forgetPartial()
            context.discardPartial(key)
        }
        do {
            return .success(try staged())
        } catch let failure as Failure {
            if hasUnwritten { tellProgress() }
            // An origin may send less of the rest than was asked for; then the next request goes on.
            if resting == nil || failure.kind != .truncated { discardPartial() }
            return .failure(failure)
        } catch {
            return .failure(Failure(.storage, "\(error)"))
        }
    }

    private func staged() throws -> StagedImage {
        if let promised = length, promised != received {
            guard !head.isChunked else { throw Failure.otherLength(received, promised) }
            throw Failure(.truncated, "\(received) of \(promised) bytes arrived")
        }
        guard let body = stagedBody() else {
            needsFraming = mayBeCut
            throw Failure(.notAnImage, "the response has no body")
        }
        let report = try checked(inspector.finish())
        // Its file is closed by whoever publishes it, once it is published.
        self.body = nil
        return StagedImage(
            flight: id, key: key, body: body, url: url, record: record(report))
    }

    /// Whether its stream may have been reset, which libcurl takes for its end (RFC 9113 §8.1), and can be asked
    /// for by another protocol.
    private var mayBeCut: Bool { head.isMultiplexed && !head.isFramed && isSociable }

    private func stagedBody() -> StagedBody? {
        switch body {
        case .bytes(let bytes): .bytes(bytes)
        case .file(let file): (digest?.finish()).map { .file(file, $0) }
        case nil: nil
        }
    }

    /// Whether these bytes are to be published: an image, and all of it.
    private func checked(_ report: ImageReport) throws -> ImageReport {
        let type = report.mediaType ?? .other
        guard context.settings.accepts(type) else { throw Failure.notAccepted(type) }
        // Where the framing vouches for the length, a missing end mark is tolerated: there are many
        // such images about. Where nothing vouches, the image's own end has to. What its own lengths say
        // has to be there in any case.
        guard head.isFramed || resting != nil || report.completeness == .whole else {
            needsFraming = mayBeCut
            throw Failure.unvouched(report.completeness, received)
        }
        switch report.completeness {
        case .empty where type != .other: throw Failure.noImage(type, received)
        case .cut where type != .other: throw Failure.cutByOrigin(type, received)
        default: return report
        }
    }

    private func record(_ report: ImageReport) -> EntryRecord {
        let rules = context.settings.caching
        var record =
            if let partial = resting?.resumption.record {
                EntryRecord(report, continuing: partial, head, times, rules)
            } else {
                EntryRecord(size: received, report, head, times, rules)
            }
        // The time to open it begins when it is there.
        if record.removeAt != nil { record.removeAt = .now + rules.handOverTime }
        return record
    }
}
