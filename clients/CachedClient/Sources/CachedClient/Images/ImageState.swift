/// What a cell of a list shows.
public enum ImageState: Sendable, Hashable {
    /// Neither a file nor a download: a placeholder.
    case missing
    /// Being downloaded: a ring.
    case inFlight(Progress)
    /// Complete and checked: the picture.
    case cached(ImageFile)
    /// There is no image: the reason.
    case failed(CacheFailure)

    /// Whether nothing else is expected: the image is cached or has failed.
    public var isFinal: Bool {
        switch self {
        case .missing, .inFlight: false
        case .cached, .failed: true
        }
    }
}
