/// Where the bytes of an image come from.
public enum ImageSource: Hashable, Sendable {
    /// The server that the URL names.
    case origin
    /// The store that several machines share.
    case store
}
