internal import CacheKey
import CacheModel
import CacheValues
import HTTPCaching

/// Asks the store step by step, as a person would who looks for a fault. Used by one thread.
final class StoreProbe {
    private let access: StoreAccess
    private let environment: RequestEnvironment
    private let multi: CurlMulti
    /// A name that no image has.
    private let url: String

    private static let patience = Duration.seconds(5)

    init(_ access: StoreAccess, _ settings: TransferSettings) throws(CacheError) {
        self.access = access
        multi = try CurlMulti()
        environment = RequestEnvironment(settings, multi.connections)
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        let prefix = access.location.prefix
        url = access.location.url(
            ofObject: (prefix.isEmpty ? "" : prefix + "/") + "probe/\(digits)")
    }

    /// The answer to one request.
    private struct Answer {
        let status: Int
        let explanation: StoreExplanation
        let time: Duration
        let document: [UInt8]
    }

    private struct Fault: Error {
        let problem: String
    }

    func run(_ check: inout StoreCheck) {
        do {
            try look(&check)
            guard check.policy.writes else { return }
            try write(&check)
        } catch let fault as Fault {
            check.problem = fault.problem
        } catch {
            check.problem = "\(error)"
        }
    }

    private func look(_ check: inout StoreCheck) throws {
        let answer = try ask(.get, "GET")
        check.clockDifference = answer.explanation.clockDifference
        guard case .missing = answer.explanation.answer else {
            throw Fault(problem: problem("GET", answer))
        }
        check.get = answer.time
        guard !check.policy.writes else { return }
        guard try ask(.get, "GET", at: access.location.markURL).status == 200 else {
            throw Fault(
                problem:
                    "no machine has put an image below \(access.location.description) yet; correct "
                    + "CACHED_STORE, or start a machine that writes")
        }
    }

    private func write(_ check: inout StoreCheck) throws {
        let bytes = Array("cached looks whether it may write here\n".utf8)
        let digest = ContentDigest(of: bytes).description
        let fields = [
            RequestField(name: "content-type", value: "text/plain"),
            RequestField(name: "if-none-match", value: "*"),
        ]
        func put() throws -> Answer {
            try ask(.put(UploadedFile(bytes), digest: digest), "PUT", fields)
        }
        let first = try put()
        guard 200..<300 ~= first.status else { throw Fault(problem: problem("PUT", first)) }
        check.put = first.time
        let second = try put()
        check.isCreationExclusive = [409, 412].contains(second.status)
        let got = try ask(.get, "GET")
        let isSame = got.status == 200 && got.document == bytes
        let deleted = try ask(.delete, "DELETE")
        guard isSame else {
            throw Fault(problem: "GET: the object is not the one that was put there")
        }
        guard 200..<300 ~= deleted.status else {
            throw Fault(problem: problem("DELETE", deleted))
        }
        check.delete = deleted.time
    }

    private func problem(_ step: String, _ answer: Answer) -> String {
        let refusal = answer.explanation.refusal
        return "\(step): \(refusal.code): \(refusal.remedy)"
    }

    /// What is wrong with the connection, and the remedy.
    private func explain(_ error: CurlError, _ request: Request) -> String {
        let failure = Failure.curl(
            error, certificateProblem: request.easy.certificateProblem,
            text: request.easy.errorText)
        return StoreRefusal(failure, at: access.location.endpoint)?.remedy
            ?? "no answer from \(access.location.endpoint): \(failure.message)"
    }

    private func ask(
        _ method: StoreRequest.Method, _ step: String, _ fields: [RequestField] = [],
        at other: String? = nil
    ) throws -> Answer {
        var plan = RequestPlan(
            flight: FlightID(rawValue: 0), url: other ?? url, route: .direct,
            mayShareConnection: false)
        plan.fields = fields
        plan.decodesBody = false
        do throws(StoreCredentialSource.Missing) {
            plan.store = try access.request(
                method, StorePatience(limit: Self.patience, rate: 1 << 20))
        } catch {
            let refusal = StoreRefusal.noCredentials(error)
            throw Fault(problem: "\(refusal.code): \(refusal.remedy)")
        }
        let taker = DocumentTaker()
        let request = try Request(plan, environment)
        request.delegate = taker
        multi.add(request.easy)
        defer { multi.remove(request.easy) }
        let began = ContinuousClock.now
        while began + Self.patience * 2 > .now, request.deadline.map({ $0 > .now }) ?? true {
            multi.perform()
            if let (_, end) = multi.nextFinished() {
                if case .failed(let error) = end, !request.head.isComplete {
                    throw Fault(problem: "\(step): \(explain(error, request))")
                }
                return Answer(
                    status: request.head.status,
                    explanation: StoreExplanation(request.head, taker.bytes),
                    time: began.duration(to: .now), document: taker.bytes)
            }
            multi.poll(milliseconds: 100)
        }
        throw Fault(problem: "\(step): no answer from \(access.location.endpoint) in time")
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
