import CacheFetching
internal import CacheKey
import CacheValues
import HTTPCaching
import ImageFormats
internal import SystemPackage

/// A question to the store. The origin is asked neither for an image nor about an entry.
final class StoreDownload: Download {
    private let access: StoreAccess
    /// The entry's digest; `nil` if there is none, and the whole object is asked for.
    private let knownDigest: ContentDigest?
    /// The key that an object has to name to be about this URL.
    private let urlDigest: String
    /// The rules that shortened the URL.
    private let naming: IgnoredQueries
    /// Whether the image is missing, and claimed.
    private let isClaiming: Bool
    /// The time for which a late answer still counts.
    private let lateTime: Duration
    /// The document with which the store explains a failure.
    private var explanation: [UInt8] = []

    private static let longestExplanation = 16 * 1024

    /// Prepares the first request: for the object's head alone if there is an entry already.
    ///
    /// - Throws: a `CurlError`, or why there are no credentials.
    init(
        _ id: FlightID, _ key: CacheKey, _ url: CacheURL, _ hints: LocalHints,
        _ question: StoreQuestion, _ access: StoreAccess, _ context: TransferContext
    ) throws {
        let directory = context.directory
        let isAboutEntry = question.isAboutEntry && hints.entry
        let record = isAboutEntry ? directory.entryRecord(of: key) : nil
        let digest = record.flatMap { _ in
            ifPossible { () throws(Errno) in try directory.digest(of: key) }
        }
        (self.access, knownDigest) = (access, digest)
        (urlDigest, naming) = (StoreMetadata.urlDigest(of: question.name), question.naming)
        (isClaiming, lateTime) = (question.claims, question.lateTime)
        var plan = RequestPlan(
            flight: id, url: access.location.url(of: key), route: .direct,
            mayShareConnection: false)
        plan.decodesBody = false
        var method = digest == nil ? StoreRequest.Method.get : .head
        if question.claims {
            method = .put(UploadedFile([]), digest: ContentDigest(of: []).description)
            let isNew = RequestField(name: "If-None-Match", value: "*")
            plan.fields = StoreMetadata(claim: "\(StoreClaim.lifetime)").fields + [isNew]
        }
        plan.store = try access.request(method, question.patience)
        let entry = digest == nil ? nil : record.map { KnownEntry.unconditional($0) }
        try super.init(
            id, key, url, plan, entry ?? .none, mayReplacePartial: hints.partial, context)
    }

    /// The validators of a store's object are not the origin's.
    override var leavesPartial: Bool { false }

    /// Also the document with which a store explains a failure.
    override var wantsBody: Bool {
        super.wantsBody || request.head.isFailure || request.head.isRedirect
    }

    override func refusal(of head: ResponseHead) -> Failure? {
        problem(of: head) ?? super.refusal(of: head)
    }

    /// Why an object with this head cannot be the image.
    private func problem(of head: ResponseHead) -> Failure? {
        guard head.status == 200, !isClaiming, head.storeMetadata?.claim == nil else { return nil }
        guard let record = Self.record(of: head) else {
            return .badObject("it has no record that can be read")
        }
        if head.storeMetadata?.urlDigest != urlDigest { return .badObject("it is of another URL") }
        if let trusted = access.trusted, head.storeMetadata?.isSigned(byOneOf: trusted) != true {
            return .badObject("no key in CACHED_STORE_TRUST has signed it")
        }
        let leftOut = head.storeMetadata?.leftOut ?? ""
        if !naming.leaveOut(leftOut.split(separator: ","), of: url) {
            return .badObject("a rule of another machine left \(leftOut) out of its URL")
        }
        if !head.contentCodings.isEmpty { return .badObject("its bytes are packed") }
        if let length = head.contentLength, length != record.record.size {
            return .badObject("its length is not that of its record")
        }
        return nil
    }

    /// The record that the object carries.
    private static func record(of head: ResponseHead) -> StoreRecord? {
        head.storeMetadata?.record.flatMap { StoreRecord(text: $0) }
    }

    /// A document that is longer than ``longestExplanation`` explains nothing.
    override func received(_ bytes: UnsafeRawBufferPointer) -> WriteResult {
        guard !hasImage || isClaiming else { return super.received(bytes) }
        guard explanation.count + bytes.count <= Self.longestExplanation else { return .refused }
        explanation += bytes
        return .taken
    }

    override func plansAnotherRequest(after end: RequestEnd) -> Bool {
        changesConnection(after: end) || plansWholeObject(after: end)
    }

    /// The head of the object shows that it is another image than the entry, and a fresh one. Plans the request for it.
    private func plansWholeObject(after end: RequestEnd) -> Bool {
        guard case .head = plan.store?.method, end == .completed,
            request.failure == nil, request.head.status == 200,
            request.head.storeMetadata?.digest != knownDigest?.description,
            let record = Self.record(of: request.head)
        else { return false }
        let found = record.entry(answeredBy: request.head, now: request.times.received)
        guard found.reuse(at: .now) == .fresh else { return false }
        plan.store?.method = .get
        plan.head = ResponseHead()
        return true
    }

    /// Whether it gets more time when others do. A claim has all the time that there is.
    fileprivate var mayWait: Bool { !isBesideOrigin && !isClaiming }

    /// The time for the answer is over. Returns whether the origin is asked beside the store from now on, and the first
    /// whole answer counts. That needs no file, so it is for small images.
    fileprivate func asksOriginToo() -> Bool {
        guard !isBesideOrigin, !isClaiming, !mayReplacePartial, body?.file == nil,
            case .get = plan.store?.method
        else { return false }
        isBesideOrigin = true
        // No space is reserved for them before they are published.
        granted = Int64(Self.memoryLimit)
        request.prolong(by: lateTime)
        return true
    }

    override func finish(_ end: RequestEnd) -> TransferEnd {
        // What was late says nothing about the next answers.
        if isBesideOrigin { times.answered = nil }
        let time = times.answered.map { times.began.duration(to: $0) }
        if let confirmed = confirmed(end) { return .confirmed(confirmed) }
        do {
            if let answer = answer(end) { throw NoImage(answer: answer) }
            return .staged(try stagedFromStore())
        } catch {
            discardPartial()
            let answer = (error as? NoImage)?.answer ?? verdict(on: error)
            return .notInStore(isBesideOrigin ? .withdrawn : answer, after: time)
        }
    }

    private struct NoImage: Error {
        let answer: StoreAnswer
    }

    /// The entry's new record, if the store has the same image and it is fresh there.
    private func confirmed(_ end: RequestEnd) -> Revalidation? {
        guard case .head = plan.store?.method, end == .completed, request.failure == nil,
            request.head.status == 200, let asked = entry.record,
            request.head.storeMetadata?.digest == knownDigest?.description,
            let stored = Self.record(of: request.head), stored.record.size == asked.size
        else { return nil }
        var record = stored.entry(answeredBy: request.head, now: request.times.received)
        guard record.reuse(at: .now) == .fresh else { return nil }
        // The bytes are those that came here before.
        record.isFromStore = asked.isFromStore
        record.fetchedAt = min(asked.fetchedAt, record.fetchedAt)
        var revalidation = Revalidation(
            flight: id, key: key, url: url, asked: asked, record: record)
        revalidation.storeTime = times.answered.map { times.began.duration(to: $0) }
        return revalidation
    }

    /// Why there is no complete object; `nil` if there is one.
    private func answer(_ end: RequestEnd) -> StoreAnswer? {
        let head = request.head
        if isClaiming, let answer = answerToClaim { return answer }
        if let left = head.claimLeft(atMost: StoreClaim.lifetime, now: .now) {
            return left > 0 ? .awaited : .stale
        }
        // Every object of S3 has an ETag.
        if head.isComplete, head.status == 200, head.storeMetadata == nil,
            request.easy.isHTML || head.entityTag == nil
        {
            return .refused(.noObject(at: access.location.endpoint))
        }
        if let failure = request.failure { return verdict(on: failure) }
        if head.isFailure || head.isRedirect { return answerOfFailure }
        if case .failed(let error) = end { return answer(error) }
        if case .head = plan.store?.method { return .stale }
        guard head.status == 200 else { return .bad("it came with status \(head.status)") }
        guard let promised = length ?? Self.record(of: head)?.record.size,
            promised == received
        else { return .failed("the connection closed after \(received) bytes") }
        return nil
    }

    /// If the store refuses claims, or does not know conditions, the image is downloaded as if there were none. `nil` if the
    /// store does not answer, or fails.
    private var answerToClaim: StoreAnswer? {
        switch request.head.status {
        case 200..<300: .claimed
        case 409, 412: .awaited
        case 400..<500, 501: .notAsked
        default: nil
        }
    }

    private var answerOfFailure: StoreAnswer {
        let head = request.head
        // No document explains the answer to HEAD.
        if case .head = plan.store?.method, 400..<500 ~= head.status, head.status != 429 {
            return head.status == 404 ? .missing : .notAsked
        }
        return StoreExplanation(head, explanation).answer
    }

    private func answer(_ error: CurlError) -> StoreAnswer {
        if error == .timedOut { return .late }
        let failure = Failure.curl(
            error, received: received, of: length, request.head,
            certificateProblem: request.easy.certificateProblem, text: request.easy.errorText)
        if failure == .tooManyHeaders { return .bad(failure.message) }
        guard request.refusedAddress == nil, !NetworkInterfaces.isOffline,
            let refusal = StoreRefusal(failure, at: access.location.endpoint)
        else { return .failed(failure.message) }
        return .refused(refusal)
    }

    private func stagedFromStore() throws -> StagedImage {
        let head = request.head
        guard let stored = Self.record(of: head), let body else {
            throw Failure.badObject("it has no bytes")
        }
        let report = try checked(inspector.finish())
        var record = stored.entry(answeredBy: head, now: request.times.received)
        guard record.size == received else {
            throw Failure.badObject("its length is not that of its record")
        }
        record.take(report)
        times.staged = .now
        let image = StagedImage(
            flight: id, key: key, body: body, digest: writer?.finishDigest(), url: url,
            record: record, times: times)
        guard image.digest.description == head.storeMetadata?.digest else {
            throw Failure.badObject("its bytes do not have its SHA-256")
        }
        // The publisher closes the file.
        leaveFile()
        self.body = nil
        return image
    }

    /// The meaning of a failure for the object. Many failures concern this machine alone.
    private func verdict(on error: any Error) -> StoreAnswer {
        guard let failure = error as? Failure else { return .notAsked }
        switch failure.kind {
        case .protocolError, .truncated, .unverifiable: return .bad(failure.message)
        // Others may accept images that are not accepted here.
        case .notAnImage where inspector.mediaType == .svg: return .notAsked
        case .notAnImage: return .bad(failure.message)
        default: return .notAsked
        }
    }
}

extension StoreMetadata {
    /// The SHA-256 of a URL.
    static func urlDigest(of url: CacheURL) -> String {
        ContentDigest(of: Array(url.string.utf8)).description
    }
}

extension EntryRecord {
    /// Seconds for which the entry was fresh after its last confirmation.
    fileprivate var lifetime: Int64 { terms.lifetime ?? freshUntil.map { $0 - fetchedAt } ?? 0 }
}

extension Failure {
    /// An object of the store is not what it claims to be.
    fileprivate static func badObject(_ problem: String) -> Failure {
        Failure(.protocolError, problem)
    }
}

extension TransferThread {
    /// Asks the store for an image, unless so much of it is here already that the rest comes from the origin.
    func ask(
        _ id: FlightID, _ key: CacheKey, _ url: CacheURL, _ hints: LocalHints,
        _ question: StoreQuestion
    ) {
        guard let store = context.store else {
            preconditionFailure("the store is asked by a loop without one")
        }
        if context.settings.keepsLocalImages, AddressPolicy.isLocal(host: url.host) {
            return answer(id, key, .notAsked)
        }
        // Neither an entry that nobody else may have, nor one whose confirmations nobody writes, becomes fresh there.
        if hints.entry, question.isAboutEntry,
            let record = context.directory.entryRecord(of: key),
            !record.isShareable || record.lifetime < question.leastLifetime
        {
            return answer(id, key, .notAsked)
        }
        if hints.partial, let partial = context.directory.resumablePartial(of: key),
            partial.resumption.received * 2 >= partial.resumption.record.total
        {
            return answer(id, key, .notAsked)
        }
        do {
            let download = try StoreDownload(id, key, url, hints, question, store, context)
            downloads[id] = download
            multi.add(download.request.easy)
        } catch let missing as StoreCredentialSource.Missing {
            answer(id, key, missing.isPending ? .notAsked : .refused(.noCredentials(missing)))
        } catch {
            answer(id, key, .failed("\(error)"))
        }
    }

    /// Whether the download is a question to the store that goes on although its time is over: others have longer by now, or
    /// its origin is asked too.
    func hasMoreTime(_ download: Download) -> Bool {
        guard let question = download as? StoreDownload else { return false }
        if question.mayWait, let patience = context.delegate.storePatience,
            question.request.waits(with: patience)
        {
            return true
        }
        guard downloads.values.count(where: \.isBesideOrigin) < StoreLookups.most,
            question.asksOriginToo()
        else { return false }
        answer(question.id, question.key, .later)
        return true
    }

    private func answer(_ id: FlightID, _ key: CacheKey, _ answer: StoreAnswer) {
        context.delegate.downloadEnded(key, id, .notInStore(answer, after: nil))
    }
}
