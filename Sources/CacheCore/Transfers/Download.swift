import CacheFetching
internal import CacheKey
import CacheValues
import HTTPCaching
import ImageFormats
internal import SystemPackage

/// One attempt to download the image of a flight. It consists of one request, or of several: for each redirect, by
/// another connection, or for the whole image if its rest cannot be had. Belongs to the transfer loop's thread.
///
/// Digest, type and size of the image are computed while its bytes pass: those of a large image by the ``BodyThread``. A
/// small image stays in memory, and the directory's thread computes its digest. Only a partial download that is resumed is
/// read again.
/// This is a download from the origin; ``StoreDownload`` is one from the store.
class Download: RequestDelegate {
    let id: FlightID
    let key: CacheKey
    let url: CacheURL
    let context: TransferContext
    /// The download keeps the settings that it began with.
    let requests: RequestEnvironment
    private(set) var request: Request
    /// The next request, or the current one.
    var plan: RequestPlan
    var entry: KnownEntry
    /// The entry's record after a 304; `nil` if the 304 is about another image.
    var confirmedRecord: EntryRecord?

    /// The image's bytes, in memory or in a file; `nil` before the first one arrives.
    var body: ImageBody?
    /// Bytes of the image that are there.
    var received: Int64 = 0
    var inspector = ImageInspector()

    /// Writes the bytes to the partial file, or reads that again; `nil` if there is none.
    var writer: BodyWriter?
    /// The latest bytes, which the writer does not have yet.
    var piece: BodyPiece?
    /// When bytes are written that no piece or image was completed with.
    var writingTime = ContinuousClock.now
    /// Bytes that are not in the file yet, among those that are not held in the body.
    var unwritten: Int64 = 0

    /// The partial download that is resumed, if the origin agrees.
    var resumed: ResumablePartial?
    /// Bytes of it that were read again.
    var reread: Int64 = 0
    /// Whether it changed since the request was made, or could not be read.
    var isPartialChanged = false
    /// Whether a useless partial file can be in the way.
    let mayReplacePartial: Bool
    /// Whether header fields of an account were sent, so that the image is for this account alone.
    let isPersonal: Bool

    /// Whether a host on the way is another one on another network, so that the image is for this machine alone.
    private(set) var isLocal = false

    /// Bytes of the image for which space is reserved.
    var granted: Int64 = 0
    /// The target of the latest redirect; `nil` for the URL itself.
    var redirectTarget: String?
    var redirects = 0
    /// How often the same request was sent again by another connection.
    var changedConnections = 0
    /// The first response is that of the URL's own host, before any redirect.
    var times = TransferTimes()
    /// Whether the promised length was reported, or that there is none.
    var isHeadReported = false
    /// Whether this is a question to the store whose origin is asked too, so that the partial is another download's.
    var isBesideOrigin = false

    /// The rules about the images of the URL's host.
    var rules: CachingRules {
        let rules = requests.settings.caching
        return rules.minimumFreshness.isEmpty ? rules : rules.applied(to: url.host)
    }

    /// Prepares the first request. A partial download is resumed, or else an entry is asked about, if the `hints`
    /// say that there can be one.
    convenience init(
        _ id: FlightID, _ key: CacheKey, _ url: CacheURL, _ hints: LocalHints,
        _ context: TransferContext
    ) throws(CurlError) {
        let settings = context.requests.settings
        let resumed = hints.partial ? context.directory.resumablePartial(of: key) : nil
        let record = hints.entry ? context.directory.entryRecord(of: key) : nil
        // What everybody gets is not the account's answer, even if the bytes are the same.
        let isComparable = hints.fields.isEmpty || record?.isPersonal == true
        let conditions = isComparable ? record?.validators.conditionFields ?? [] : []
        let asks = resumed == nil && !conditions.isEmpty
        var plan = RequestPlan(
            flight: id, url: url.percentEncoded,
            route: settings.proxy == nil
                ? .direct : settings.route(to: CurlURL(url.percentEncoded)?.host),
            // Without TLS there is no HTTP/2. If a rate limit held one download back, its bytes would pile up in
            // memory beside those of the others on the connection.
            mayShareConnection: url.isSecure && settings.maximumRate == nil)
        if let resumed {
            plan.fields = resumed.resumption.fields
        } else if asks {
            plan.fields = conditions
        }
        (plan.accountFields, plan.isForGuests) = (hints.fields, hints.isForGuests)
        try self.init(
            id, key, url, plan,
            record.map { asks ? .conditional($0) : .unconditional($0) } ?? .none,
            resumed: resumed, mayReplacePartial: hints.partial, context)
        if let resumed { beginReading(resumed) }
    }

    init(
        _ id: FlightID, _ key: CacheKey, _ url: CacheURL, _ plan: RequestPlan, _ entry: KnownEntry,
        resumed: ResumablePartial? = nil, mayReplacePartial: Bool, _ context: TransferContext
    ) throws(CurlError) {
        (self.id, self.key, self.url, self.context) = (id, key, url, context)
        (self.plan, self.entry, self.resumed) = (plan, entry, resumed)
        self.mayReplacePartial = mayReplacePartial
        isPersonal = !plan.accountFields.isEmpty
        requests = context.requests
        request = try Request(plan, requests)
        request.delegate = self
    }

    /// Makes another request, as planned.
    func requestAgain() throws(CurlError) {
        request = try Request(plan, requests)
        request.delegate = self
    }

    /// Bytes of the whole image, once they are known.
    var length: Int64? { resumed?.resumption.record.total ?? request.bodyLength }

    /// Whether a partial is left if the download is stopped.
    var leavesPartial: Bool { true }

    // MARK: A request

    var wantsBody: Bool { body != nil || hasImage }

    func responseBegan(isMultiplexed: Bool) {
        noteAddress()
        guard times.answered == nil else { return }
        times.answered = .now
        // A host without TLS never answers by HTTP/2.
        if url.isSecure { context.delegate.downloadAnswered(id, isMultiplexed: isMultiplexed) }
    }

    /// Notices that the request leads to a host that is another one on another network.
    func noteAddress() {
        guard !isLocal, requests.settings.keepsLocalImages,
            request.isLocal || AddressPolicy.isLocal(host: url.host)
        else { return }
        isLocal = true
        context.delegate.downloadIsLocal(key, id)
    }

    /// A large image is refused as soon as its length is known: its body can take long to arrive. A small one is
    /// refused at its first byte, when it asks for space.
    func refusal(of head: ResponseHead) -> Failure? {
        guard head.isWholeImage, let length = request.bodyLength, length > Self.memoryLimit else {
            return nil
        }
        return context.delegate.refusal(of: key, id, length: length)
    }

    func received(_ bytes: UnsafeRawBufferPointer) -> WriteResult {
        do {
            if body == nil { try checkHead() }
            guard try mayTake(bytes.count) else {
                return .paused
            }
            if body == nil { try beginBody() }
            try take(bytes)
            return .taken
        } catch is PartialChanged {
            isPartialChanged = true
        } catch let failure as Failure {
            request.fail(failure)
        } catch let cause as Errno {
            notStored(cause)
        } catch {
            request.fail(Failure(.storage, "\(error)"))
        }
        return .refused
    }

    private func checkHead() throws {
        if answer == .startsOver { forgetPartial() }
    }

    /// Whether `count` bytes more may be taken now; if not, the transfer pauses.
    private func mayTake(_ count: Int) throws -> Bool {
        guard !isRereading, context.turns.admits(id) else { return false }
        guard staysInMemory(with: count) || context.bytes.pieces.areLeft else {
            context.turns.awaitPieces(id)
            return false
        }
        try reserveSpace(for: count)
        return context.rateLimiter.admits(
            count, of: id, in: context.delegate.flow(of: key, id), now: .now)
    }

    /// The first byte of an image arrives, or the first of the rest of a resumed one.
    private func beginBody() throws {
        writingTime = .now + Self.gatheringTime
        if let resumed {
            let file = try unchanged(resumed)
            context.hold(file)
            body = .file(file)
        } else {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(min(Int(clamping: length ?? 0), Self.memoryLimit))
            body = .bytes(bytes)
            inspector = ImageInspector()
            // The old file has to go now: its space is no longer counted.
            if mayReplacePartial { try beginPartial() }
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) throws {
        if let end = resumed?.resumption.end(of: request.head) ?? length,
            received + Int64(bytes.count) > end
        {
            throw Failure(
                .protocolError, "the server sent more than the \(end) bytes it promised")
        }
        if isBomb(received + Int64(bytes.count)) { throw Failure.bomb }
        if body?.held(bytes, atMost: Self.memoryLimit) == true {
            inspector.consume(bytes)
            received += Int64(bytes.count)
            try checkShape()
        } else {
            try beginPartial()
            received += Int64(bytes.count)
            gather(bytes)
        }
    }

    /// Throws as soon as the bytes show that the image cannot be taken.
    func checkShape() throws(Failure) {
        if let type = inspector.mediaType, !requests.settings.accepts(type) {
            throw Failure.notAccepted(type)
        }
        if let size = inspector.storedSize, size.area > requests.settings.maximumPixels {
            throw Failure.tooManyPixels(size, atMost: requests.settings.maximumPixels)
        }
    }

    /// Whether a coded body becomes so many times larger when it is unpacked that it can only be meant to fill the
    /// disk. Images of one colour compress well, so small ones pass.
    private func isBomb(_ count: Int64) -> Bool {
        request.isDecoding && count > 16 << 20 && count / 100 > request.easy.bodyBytes
    }

    /// The request ended. Returns whether the download plans another one.
    func plansAnotherRequest(after end: RequestEnd) -> Bool {
        if changesConnection(after: end) || leavesHTTP2(after: end) || asksProxy(after: end)
            || followsRedirect() || takesCodedBody(after: end)
        {
            return true
        }
        guard hasToStartOver() || isOtherImageConfirmed() else { return false }
        startOver()
        return true
    }

    /// The last request ended.
    func finish(_ end: RequestEnd) -> TransferEnd {
        if request.isCrowded, end == .failed(.couldNotConnect) { return .crowded }
        if end == .completed, request.failure == nil, request.head.status == 304,
            case .conditional(let asked) = entry, let record = confirmedRecord
        {
            return .confirmed(
                Revalidation(flight: id, key: key, url: url, asked: asked, record: record))
        }
        switch result(end) {
        case .success(let image): return .staged(image)
        case .failure(let failure): return .failed(failed(failure))
        }
    }

    func reportProgress() {
        isHeadReported = true
        context.delegate.downloadProgressed(
            key, id, received: received - unwritten, of: length, inspector.shape)
    }
}
