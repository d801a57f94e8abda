/// The state of an image, which determines what a cell of a list shows.
public enum ImageState: Sendable, Hashable {
    /// There is neither a file nor a download. The cell shows a placeholder.
    case missing
    /// The image is being downloaded. The cell shows a ring.
    case inFlight(Progress)
    /// The image is complete and checked. The cell shows it.
    case cached(ImageFile)
    /// The download failed. The cell shows the reason.
    case failed(CacheFailure)

    /// Whether no further state is expected: the image is cached or has failed.
    public var isFinal: Bool {
        switch self {
        case .missing, .inFlight: false
        case .cached, .failed: true
        }
    }
}
