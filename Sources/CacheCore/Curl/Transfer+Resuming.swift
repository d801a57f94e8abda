internal import CacheKey
internal import SystemPackage

/// A partial is not what it was when its rest was asked for.
struct PartialChanged: Error {}

/// Continuing an interrupted download: the rest is asked for, and meanwhile what is there read again,
/// because digest and type are told from every byte.
extension Transfer {
    /// Bytes of the whole image, once they are known.
    var length: Int64? { resting?.resumption.record.total ?? head.contentLength }

    /// What the origin said to the question for the rest; `nil` where there was none.
    var answer: Resumption.Answer? { resting?.resumption.answer(head, now: .now) }

    /// Whether the body of the response is an image, or the rest of one.
    var hasImage: Bool {
        switch answer {
        case nil: head.status == 200
        case .goesOn, .startsOver: true
        case .isWhole, .unusable, .failure: false
        }
    }

    /// Whether the partial was not read to its end yet; the rest can't be taken before.
    var isRereading: Bool { resting.map { reread < $0.resumption.received } ?? false }

    /// Whether nothing but that stands between the transfer and its end.
    var waitsForRereading: Bool { isRereading && answer == .isWhole }

    /// Looks for a partial to continue; before the request is made.
    func findPartial() {
        guard let partial = context.directory.restingPartial(of: key) else { return }
        beginReading()
        resting = partial
        received = partial.resumption.received
        headers = RequestHeaders(partial.resumption.fields)
        context.onBeginning(key, id, received, length)
    }

    /// Reads on in the partial, one buffer full.
    func reread(into buffer: UnsafeMutableRawBufferPointer) {
        guard let resting, isRereading else { return }
        let rest = resting.resumption.received - reread
        let piece = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: rest)))
        do {
            let count = try resting.file.read(at: reread, into: piece)
            read(UnsafeRawBufferPointer(rebasing: piece[..<count]))
            reread += Int64(count)
            isSpoilt = count == 0
        } catch {
            isSpoilt = true
        }
        if isSpoilt { reread = resting.resumption.received }
    }

    /// The partial's file, to be appended to.
    func unspoilt(_ partial: ResumablePartial) throws(PartialChanged) -> StagingFile {
        guard !isSpoilt, context.directory.isUntouched(partial) else { throw PartialChanged() }
        return partial.file
    }

    /// The transfer is over: whether the answer is of no use, so that the whole has to be asked for. If
    /// it says that the partial is whole, that becomes the image.
    func hasToStartOver() -> Bool {
        guard let resting, body == nil, ownFailure == nil else { return false }
        switch answer {
        case .unusable: return true
        case .goesOn: return isSpoilt
        case .isWhole:
            do {
                body = .file(try unspoilt(resting))
                return false
            } catch {
                return true
            }
        default: return false
        }
    }

    /// Makes ready to ask again, for all of the image.
    func startOver() {
        forgetPartial()
        context.discardPartial(key)
        head = ResponseHead()
        isBodyBegun = false
        isHeadTold = false
        times = RequestTimes(sent: .now, received: .now)
        headers = .usual
        question = question.unasked
        route = route.map { _ in ProxyRoute() }
    }

    /// The download begins anew.
    func forgetPartial() {
        resting = nil
        digest = nil
        received = 0
        reread = 0
        isSpoilt = false
        context.onBeginning(key, id, 0, nil)
    }
}
