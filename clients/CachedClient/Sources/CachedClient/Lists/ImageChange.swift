/// A new state of one image.
public struct ImageChange: Sendable, Hashable {
    /// Empty if it is not known: the cache keeps the URL in an attribute of the file.
    public let url: String
    /// The name of the file, in changes of the whole cache.
    public let key: String
    public let state: ImageState
}
