/// Why the cache does not accept a URL.
public struct InvalidURL: Error, Hashable, Sendable, CustomStringConvertible {
    /// The second half of a sentence, for example "it contains a space".
    public let reason: String

    init(_ reason: String) {
        self.reason = reason
    }

    public var description: String { "not a URL that can be cached: \(reason)" }
}
