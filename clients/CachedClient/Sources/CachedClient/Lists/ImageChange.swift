/// A new state of one image.
public struct ImageChange: Sendable, Hashable {
    /// The URL is empty if it is not known: the cache keeps it in an attribute of the file.
    public let url: String
    /// The name of the file, in changes of the whole cache.
    public let key: String
    public let state: ImageState
}
