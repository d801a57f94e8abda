internal import CacheKey
import CacheValues
import HTTPCaching
import ImageFormats
internal import SystemPackage

/// Resuming an interrupted download. While the origin is asked for the rest, the partial is read again, because
/// digest and type depend on every byte.
extension Download {
    /// The meaning of the response to a request for the rest; `nil` if there was no such request.
    var answer: Resumption.Answer? { resumed?.resumption.answer(request.head, now: .now) }

    /// Whether the body of the response is an image, or the rest of one.
    var hasImage: Bool {
        switch answer {
        case nil: request.head.isWholeImage
        case .goesOn, .startsOver: true
        case .isWhole, .unusable, .failure: false
        }
    }

    /// Whether part of the partial still has to be read. The rest of the image is taken after that.
    var isRereading: Bool { resumed.map { reread < $0.resumption.received } ?? false }

    func beginReading(_ partial: ResumablePartial) {
        inspector = ImageInspector()
        received = partial.resumption.received
        let writer = BodyWriter(id, partial.file)
        self.writer = writer
        context.bytes.read(by: writer, upTo: received)
        context.delegate.downloadBegan(key, id, received: received, of: length)
    }

    /// The partial's file, to be appended to.
    func unchanged(_ partial: ResumablePartial) throws(PartialChanged) -> StagingFile {
        guard !isPartialChanged, context.directory.isUntouched(partial) else {
            throw PartialChanged()
        }
        return partial.file
    }

    /// The request ended. Returns whether its response is useless, so that the whole image has to be requested.
    /// If the response says that the partial is complete, the partial becomes the image.
    func hasToStartOver() -> Bool {
        guard let resumed, body == nil, request.failure == nil else { return false }
        switch answer {
        case .unusable: return true
        case .goesOn: return isPartialChanged
        case .isWhole:
            do {
                body = .file(try unchanged(resumed))
                return false
            } catch {
                return true
            }
        default: return false
        }
    }

    /// Plans a request for the whole image.
    func startOver() {
        forgetPartial()
        context.discardPartial(key)
        isHeadReported = false
        entry = entry.withoutCondition
        (redirectTarget, redirects) = (nil, 0)
        plan.url = url.percentEncoded
        plan.leavesHTTP2 = false
        plan.route = requests.settings.route(to: CurlURL(plan.url)?.host)
        plan.fields = []
        plan.head = ResponseHead()
        plan.cookies = []
        plan.firstSentAt = .now
    }

    /// The download starts over without the partial.
    func forgetPartial() {
        leaveFile()
        resumed = nil
        received = 0
        reread = 0
        isPartialChanged = false
        context.delegate.downloadBegan(key, id, received: 0, of: nil)
    }
}
