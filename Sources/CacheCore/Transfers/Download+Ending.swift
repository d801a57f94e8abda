import CacheDisk
import CacheFetching
internal import CacheKey
import CacheValues
import HTTPCaching
import ImageFormats

/// The end of a download.
extension Download {
    func failed(_ failure: Failure) -> FailedTransfer {
        let rules = requests.settings.caching
        var failed = FailedTransfer(failure: failure)
        failed.isFromOrigin = request.tunnelRefusal == nil
        failed.hasProgressed = hasProgressed
        if failure.kind == .http {
            failed.serverDelay = rules.statement(on: failure, by: request.head, request.times)
        }
        if [.unresolved, .unreachable, .timeout].contains(failure.kind) {
            failed.isOffline = NetworkInterfaces.isOffline
        }
        failed.allowsStaleIfError =
            failure.allowsStaleIfError && entry.record?.allowsStaleIfError(at: .now, rules) == true
        return failed
    }

    /// A staged image, or why there is none. The partial stays if a later download can resume it.
    func result(_ end: RequestEnd) -> Result<StagedImage, Failure> {
        if let failure = failure(end) { return .failure(explained(failure)) }
        // The response is about another image, and has none.
        if answer == .startsOver, body == nil {
            forgetPartial()
            context.discardPartial(key)
        }
        do {
            return .success(try staged())
        } catch let failure as Failure {
            if hasUnwritten { reportProgress() }
            // The next request asks for the bytes still missing.
            if failure.kind == .truncated, length != nil { leaveBehind() } else { discardPartial() }
            return .failure(explained(failure))
        } catch {
            return .failure(Failure(.storage, "\(error)"))
        }
    }

    /// The failure with all that is known about it: whether the body stands in for the image, and a remedy
    /// for a refusal.
    private func explained(_ failure: Failure) -> Failure {
        switch failure.kind {
        case .notAnImage where isStandIn: failure.markedAsStandIn
        case .http where [403, 429].contains(failure.httpStatus) && !requests.settings.hasContact:
            Failure(
                .http,
                "\(failure.message); this host may want to know whom to contact (CACHED_CONTACT)",
                httpStatus: failure.httpStatus)
        default: failure
        }
    }

    /// Whether the body is empty or a text in place of the image, whatever its label says.
    private var isStandIn: Bool {
        received == 0 || inspector.mediaType == .other && inspector.isText
    }

    /// Why there is no complete response with an image.
    private func failure(_ end: RequestEnd) -> Failure? {
        if let failure = request.failure {
            if [.storage, .timeout].contains(failure.kind) || failure == .waitsForSpace {
                leaveBehind()
            } else {
                discardPartial()
            }
            return failure
        }
        let head = request.head
        if [.failed(.couldNotConnect), .failed(.abortedByCallback)].contains(end),
            let refused = request.refusedAddress
        {
            return refused
        }
        // The status counts even if the body broke off.
        if head.isFailure, !hasImage, answer != .isWhole { return .http(head.status) }
        // The head of a 416 is enough.
        if case .failed(let error) = end, !(head.isComplete && answer == .isWhole) {
            leaveBehind()
            return request.proxyFailure(error)
                ?? .curl(
                    error, received: received, of: length, head, hasAsked: request.hasAsked,
                    certificateProblem: request.easy.certificateProblem,
                    text: request.easy.errorText)
        }
        return body != nil || hasImage ? nil : .http(head.status)
    }

    private func staged() throws -> StagedImage {
        if let promised = length, promised != received {
            guard !request.head.isChunked else { throw Failure.otherLength(received, promised) }
            throw Failure(.truncated, "\(received) of \(promised) bytes arrived")
        }
        guard let body else {
            throw Failure(.notAnImage, "the response has no body")
        }
        let report = try checked(inspector.finish())
        let digest = writer?.finishDigest()
        // The publisher closes the file.
        leaveFile()
        self.body = nil
        times.staged = .now
        return StagedImage(
            flight: id, key: key, body: body, digest: digest, url: url, record: record(report),
            times: times)
    }

    /// Throws unless the bytes are a complete image of an accepted type.
    func checked(_ report: ImageReport) throws -> ImageReport {
        let type = report.mediaType ?? .other
        guard requests.settings.accepts(type) else { throw Failure.notAccepted(type) }
        // A short file can show its dimensions only with its end, and a partial has shown them before.
        try checkShape()
        if report.completeness == .malformed { throw Failure.malformed(type, received) }
        // Many images lack their end mark. That is tolerated if the framing of the response shows that all bytes
        // arrived; otherwise the image itself has to show it. The lengths inside the image always have to fit.
        guard request.head.isFramed || resumed != nil || report.completeness == .whole else {
            throw Failure.unvouched(report.completeness, received)
        }
        switch report.completeness {
        case .empty where type != .other: throw Failure.noImage(type, received)
        case .cut where type != .other: throw Failure.cutByOrigin(type, received)
        default: return report
        }
    }

    private func record(_ report: ImageReport) -> EntryRecord {
        let rules = rules
        var record =
            if let partial = resumed?.resumption.record {
                EntryRecord(
                    report, continuing: partial, request.head, request.times, rules)
            } else {
                EntryRecord(size: received, report, request.head, request.times, rules)
            }
        // The callers' time to open a transient image begins when the image is there.
        if record.removeAt != nil { record.removeAt = .now + rules.noStoreGrace }
        record.isPersonal = isPersonal
        if isLocal { record.isShareable = false }
        return record
    }
}
