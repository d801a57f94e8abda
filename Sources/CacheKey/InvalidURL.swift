/// Why a text is not a URL the cache can name.
public struct InvalidURL: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, as the second half of a sentence: "it contains a space".
    public let reason: String

    init(_ reason: String) {
        self.reason = reason
    }

    public var description: String { "not a URL to cache: \(reason)" }
}
