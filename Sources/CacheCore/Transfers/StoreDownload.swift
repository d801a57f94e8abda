internal import CacheKey
import CacheModel
import CacheValues
import HTTPCaching
import ImageFormats

/// A question to the store. The origin is asked neither for an image nor about an entry.
final class StoreDownload: Download {
    private let lookup: StoreLookup

    init(
        _ id: FlightID, _ key: CacheKey, _ url: CacheURL, _ lookup: StoreLookup,
        _ context: TransferContext
    ) throws(CurlError) {
        self.lookup = lookup
        var plan = RequestPlan(
            flight: id, url: lookup.url, route: .direct, mayShareConnection: false)
        plan.decodesBody = false
        plan.store = lookup.request
        try super.init(
            id, key, url, plan, lookup.record.map { .unconditional($0) } ?? .none,
            mayReplacePartial: lookup.mayReplacePartial, context)
    }

    /// The validators of a store's object are not the origin's.
    override var leavesPartial: Bool { false }

    /// Also the document with which a store explains a failure.
    override var wantsBody: Bool {
        super.wantsBody || request.head.isFailure || request.head.isRedirect
    }

    override func refusal(of head: ResponseHead) -> Failure? {
        lookup.problem(of: head) ?? super.refusal(of: head)
    }

    override func received(_ bytes: UnsafeRawBufferPointer) -> WriteResult {
        hasImage ? super.received(bytes) : lookup.takeExplanation(bytes)
    }

    override func plansAnotherRequest(after end: RequestEnd) -> Bool {
        changesConnection(after: end) || plansWholeObject(after: end)
    }

    /// The head of the object shows that it is another image than the entry, and a fresh one. Plans the request for it.
    private func plansWholeObject(after end: RequestEnd) -> Bool {
        guard case .head = plan.store?.method, end == .completed,
            request.failure == nil, request.head.status == 200,
            request.head.storeMetadata?.digest != lookup.digest?.description,
            let record = StoreLookup.record(of: request.head)
        else { return false }
        let found = record.entry(answeredBy: request.head, now: request.times.received)
        guard found.reuse(at: .now) == .fresh else { return false }
        plan.store = lookup.wholeObject(key)
        plan.head = ResponseHead()
        return true
    }

    override func finish(_ end: RequestEnd) -> TransferEnd {
        let time = times.answered.map { times.began.duration(to: $0) }
        if let confirmed = confirmed(end) { return .confirmed(confirmed) }
        do {
            if let answer = answer(end) { throw NoImage(answer: answer) }
            return .staged(try stagedFromStore())
        } catch {
            discardPartial()
            let answer = (error as? NoImage)?.answer ?? verdict(on: error)
            if case .refused = answer { lookup.doubtCredentials() }
            return .notInStore(answer, after: time)
        }
    }

    private struct NoImage: Error {
        let answer: StoreAnswer
    }

    /// The entry's new record, if the store has the same image and it is fresh there.
    private func confirmed(_ end: RequestEnd) -> Revalidation? {
        guard case .head = plan.store?.method, end == .completed, request.failure == nil,
            request.head.status == 200, let asked = lookup.record,
            request.head.storeMetadata?.digest == lookup.digest?.description,
            let stored = StoreLookup.record(of: request.head), stored.record.size == asked.size
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
        if let failure = request.failure { return verdict(on: failure) }
        let head = request.head
        if head.isFailure || head.isRedirect {
            return StoreExplanation(head, lookup.explanation).answer
        }
        if case .failed(let error) = end {
            if error == .timedOut { return .late }
            let failure = Failure.curl(error, received: received, of: length, head)
            return failure == .tooManyHeaders ? .bad(failure.message) : .failed(failure.message)
        }
        if case .head = plan.store?.method { return .stale }
        guard head.status == 200 else { return .bad("it came with status \(head.status)") }
        guard let promised = length ?? StoreLookup.record(of: head)?.record.size,
            promised == received
        else { return .failed("the connection closed after \(received) bytes") }
        return nil
    }

    private func stagedFromStore() throws -> StagedImage {
        let head = request.head
        guard let stored = StoreLookup.record(of: head), let body else {
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
            flight: id, key: key, body: body, digest: digest?.finish(), url: url, record: record,
            times: times)
        guard image.digest.description == head.storeMetadata?.digest else {
            throw Failure.badObject("its bytes do not have its SHA-256")
        }
        // The publisher closes the file.
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

extension TransferThread {
    /// Asks the store for an image, unless so much of it is here already that the rest comes from the origin.
    func ask(
        _ id: FlightID, _ key: CacheKey, _ url: CacheURL, _ hints: LocalHints,
        _ question: StoreQuestion
    ) {
        guard let store = context.store else {
            preconditionFailure("the store is asked by a loop without one")
        }
        if hints.partial, let partial = context.directory.resumablePartial(of: key),
            partial.resumption.received * 2 >= partial.resumption.record.total
        {
            return answer(id, key, .notAsked)
        }
        do {
            let lookup = try StoreLookup(key, hints, question, store, context.directory)
            let download = try StoreDownload(id, key, url, lookup, context)
            downloads[id] = download
            multi.add(download.request.easy)
        } catch let problem as CredentialsFile.Problem {
            answer(id, key, .refused(.noCredentials(problem)))
        } catch {
            answer(id, key, .failed("\(error)"))
        }
    }

    private func answer(_ id: FlightID, _ key: CacheKey, _ answer: StoreAnswer) {
        context.delegate.downloadEnded(key, id, .notInStore(answer, after: nil))
    }
}
