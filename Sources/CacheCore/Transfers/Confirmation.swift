import CacheFetching
import CacheValues
import HTTPCaching

/// A question to the origin about a derived image: whether the image that it was derived from is still current. Any other
/// answer than a confirmation is about that image, and its body is not taken.
final class Confirmation: Download {
    /// Whether the entry tells what to ask by.
    var isPossible: Bool { if case .conditional = entry { true } else { false } }

    override func refusal(of head: ResponseHead) -> Failure? {
        head.isWholeImage ? .isOriginal : super.refusal(of: head)
    }

    override func finish(_ end: RequestEnd) -> TransferEnd {
        request.head.isWholeImage ? .originalNeeded : super.finish(end)
    }
}

extension Failure {
    /// The body is that of the image from which this one is derived.
    fileprivate static let isOriginal = Failure(.notCached, "the origin has a newer version")
}
