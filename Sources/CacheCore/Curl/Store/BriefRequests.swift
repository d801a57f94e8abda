import CacheFetching
import CacheValues
import HTTPCaching

/// Requests with short answers, one after the other. The caller waits for each. Used by one thread.
struct BriefRequests {
    let multi: CurlMulti
    let environment: RequestEnvironment

    struct Answer {
        let head: ResponseHead
        let time: Duration
        let document: [UInt8]
    }

    /// Why there is no answer.
    struct Failed: Error {
        /// `nil` if the time was over.
        let failure: Failure?
    }

    func send(
        _ store: StoreRequest, to url: String, _ fields: [RequestField] = [],
        within patience: Duration
    ) throws(Failed) -> Answer {
        var plan = RequestPlan(
            flight: FlightID(rawValue: 0), url: url, route: .direct, mayShareConnection: false)
        (plan.fields, plan.decodesBody, plan.store) = (fields, false, store)
        plan.store?.patience = StorePatience(limit: patience, rate: 1 << 20)
        let taker = DocumentTaker()
        let request: Request
        do throws(CurlError) {
            request = try Request(plan, environment)
        } catch {
            throw Failed(failure: .curl(error))
        }
        request.delegate = taker
        multi.add(request.easy)
        defer { multi.remove(request.easy) }
        let began = ContinuousClock.now
        while began + patience * 2 > .now, request.deadline.map({ $0 > .now }) ?? true {
            multi.perform()
            if let (_, end) = multi.nextFinished() {
                if case .failed(let error) = end, !request.head.isComplete {
                    throw Failed(
                        failure: .curl(
                            error, certificateProblem: request.easy.certificateProblem,
                            text: request.easy.errorText))
                }
                return Answer(
                    head: request.head, time: began.duration(to: .now), document: taker.bytes)
            }
            multi.poll(milliseconds: 100)
        }
        throw Failed(failure: nil)
    }
}

/// Keeps a short body.
private final class DocumentTaker: RequestDelegate {
    private(set) var bytes: [UInt8] = []
    let wantsBody = true

    func responseBegan(isMultiplexed: Bool) {}
    func refusal(of head: ResponseHead) -> Failure? { nil }

    func received(_ piece: UnsafeRawBufferPointer) -> WriteResult {
        guard bytes.count + piece.count <= 16 * 1024 else { return .refused }
        bytes += piece
        return .taken
    }
}
