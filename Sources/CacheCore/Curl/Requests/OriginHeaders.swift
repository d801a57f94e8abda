public import CacheValues

/// Gives the header fields that the user has set for some origins.
public protocol OriginHeaders: Sendable {
    /// The fields of every request to an origin. The transfers' thread calls this before each request.
    ///
    /// - Parameter origin: like `https://example.org`, in lower case, with a port only if it is not the scheme's.
    func fields(for origin: String) -> [RequestField]
}
