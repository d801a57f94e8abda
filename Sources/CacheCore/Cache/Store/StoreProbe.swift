import CacheFetching
internal import CacheKey
import CacheValues
import HTTPCaching

/// Asks the store step by step, as a person would who looks for a fault. Used by one thread.
final class StoreProbe {
    private let access: StoreAccess
    private let requests: BriefRequests
    /// A name that no image has.
    private let url: String

    private static let patience = Duration.seconds(5)

    init(_ access: StoreAccess, _ settings: TransferSettings) throws(CacheError) {
        self.access = access
        let multi = try CurlMulti()
        requests = BriefRequests(
            multi: multi, environment: RequestEnvironment(settings, multi.connections))
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

    private func ask(
        _ method: StoreRequest.Method, _ step: String, _ fields: [RequestField] = [],
        at other: String? = nil
    ) throws -> Answer {
        let request: StoreRequest
        do throws(StoreCredentialSource.Missing) {
            request = try access.request(method)
        } catch {
            let refusal = StoreRefusal.noCredentials(error)
            throw Fault(problem: "\(refusal.code): \(refusal.remedy)")
        }
        let endpoint = access.location.endpoint
        do throws(BriefRequests.Failed) {
            let answer = try requests.send(
                request, to: other ?? url, fields, within: Self.patience)
            return Answer(
                status: answer.head.status,
                explanation: StoreExplanation(answer.head, answer.document), time: answer.time,
                document: answer.document)
        } catch {
            guard let failure = error.failure else {
                throw Fault(problem: "\(step): no answer from \(endpoint) in time")
            }
            // What is wrong with the connection, and the remedy.
            let problem =
                StoreRefusal(failure, at: endpoint)?.remedy
                ?? "no answer from \(endpoint): \(failure.message)"
            throw Fault(problem: "\(step): \(problem)")
        }
    }
}
