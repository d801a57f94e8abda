import CacheFetching
internal import CacheKey
import CacheValues
import Glibc
import HTTPCaching
internal import SystemPackage

/// One request that changes an object of the store.
final class StoreWrite {
    let id: FlightID
    let task: StoreTask
    private(set) var request: Request
    private let access: StoreAccess
    /// Bytes of the image.
    private let size: Int64
    /// The document with which the store explains a failure.
    private var explanation: [UInt8] = []

    private static let longestExplanation = 16 * 1024
    /// The text of the object that tells machines that others put images here.
    private static let mark = "cached puts images here\n"

    /// Reads what the entry is now. `nil` if there is nothing to write any more.
    init?(
        _ id: FlightID, _ task: StoreTask, _ access: StoreAccess, _ cache: Cache,
        _ environment: RequestEnvironment, rate: Int64?
    ) throws {
        (self.id, self.task, self.access) = (id, task, access)
        var fields: [RequestField] = []
        var method = StoreRequest.Method.delete
        var size: Int64 = 0
        var url = access.location.url(of: task.key)
        switch task.kind {
        case .delete: break
        case .mark:
            let bytes = Array(Self.mark.utf8)
            fields = [
                RequestField(name: "content-type", value: "text/plain"),
                RequestField(name: "If-None-Match", value: "*"),
            ]
            method = .put(UploadedFile(bytes), digest: ContentDigest(of: bytes).description)
            url = access.location.markURL
        case .create, .replace, .renew:
            guard let entry = try StoredEntry(task.key, cache) else { return nil }
            size = entry.record.size
            fields = entry.fields
            if task.kind == .renew {
                let place = access.location
                let source = "/\(place.bucket)/\(place.objectName(of: task.key))"
                fields.append(RequestField(name: "x-amz-copy-source", value: source))
                fields.append(RequestField(name: "x-amz-metadata-directive", value: "REPLACE"))
                method = .copy
            } else {
                if task.kind == .create {
                    fields.append(RequestField(name: "If-None-Match", value: "*"))
                }
                method = .put(entry.file, digest: entry.digest.description)
            }
        }
        self.size = size
        var plan = RequestPlan(
            flight: id, url: url, route: .direct, mayShareConnection: false)
        plan.fields = fields
        plan.decodesBody = false
        plan.store = try access.request(method)
        plan.store?.rate = rate
        request = try Request(plan, environment)
        // From the beginning: an upload can stall before there is any answer.
        request.limitStalls()
        request.delegate = self
    }

    /// The meaning of the end of a request.
    func finish(_ end: RequestEnd) -> StoreWriteEnd {
        let head = request.head
        if let failure = request.failure { return .failed(failure.message) }
        guard head.isComplete, 100 < head.status else {
            if case .failed(let error) = end { return .failed(explain(error)) }
            return .failed("the store did not answer")
        }
        switch head.status {
        case 200..<300:
            // A copy that failed on the way has a status of success.
            if task.kind == .renew, hasError { return .failed("the store could not copy") }
            return success
        case 404 where task.kind == .delete: return .deleted
        case 404 where task.kind == .renew && explained.code != "NoSuchBucket":
            return .nothingToRenew
        case 412 where task.kind == .mark, 409 where task.kind == .mark: return .marked
        case 412: return .wasThere
        // Somebody else is putting the same object there.
        case 409 where task.kind == .create: return .wasThere
        case 429, 503: return .overloaded(retryAfter: explained.retryAfter)
        case 500 where explained.code == "QuotaExceeded", 507: return .refused(explained.refusal)
        case 500...: return .failed("the store answered with status \(head.status)")
        default: return .refused(explained.refusal)
        }
    }

    private func explain(_ error: CurlError) -> String {
        if error == .timedOut { return "the answer came too late" }
        let failure = Failure.curl(
            error, certificateProblem: request.easy.certificateProblem,
            text: request.easy.errorText)
        return StoreRefusal(failure, at: access.location.endpoint)?.remedy ?? failure.message
    }

    private var success: StoreWriteEnd {
        switch task.kind {
        case .create, .replace: .written(bytes: size)
        case .renew: .renewed
        case .delete: .deleted
        case .mark: .marked
        }
    }

    private var hasError: Bool {
        String(decoding: explanation, as: UTF8.self).contains("<Error>")
    }

    private var explained: StoreExplanation { StoreExplanation(request.head, explanation) }
}

extension StoreWrite: RequestDelegate {
    var wantsBody: Bool { true }

    func responseBegan(isMultiplexed: Bool) {}

    func refusal(of head: ResponseHead) -> Failure? { nil }

    func received(_ bytes: UnsafeRawBufferPointer) -> WriteResult {
        guard explanation.count + bytes.count <= Self.longestExplanation else { return .refused }
        explanation += bytes
        return .taken
    }
}
