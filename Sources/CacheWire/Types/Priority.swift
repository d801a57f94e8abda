/// How urgent a fetch is; shared downloads run at the highest of those who wait.
public enum Priority: String, Codable, Sendable, Hashable, CaseIterable {
    /// Nobody waits: revalidation, prefetch.
    case background
    /// The default.
    case normal
    /// Somebody looks at the place where the image will be.
    case visible
}
