/// The directives of a response's `Cache-Control` that concern a cache of files (RFC 9111 §5.2.2,
/// RFC 5861).
///
/// `public` is not among them: it matters for answers to requests with credentials, of which there
/// are none here. A directive given twice counts as given first (RFC 9111 §4.2.1); one that should
/// have a number and has none forbids what it would have permitted.
struct CacheControl: Equatable {
    /// Seconds a response stays fresh; 0 if unreadable.
    private(set) var maxAge: Int64?
    /// The same for shared caches only.
    private(set) var sharedMaxAge: Int64?
    /// Seconds a stale response may be used while it is asked about in the background.
    private(set) var staleWhileRevalidate: Int64?
    /// Seconds a stale response may be used because the origin fails.
    private(set) var staleIfError: Int64?
    private(set) var isNoStore = false
    /// `no-cache` without field names. With them only those fields, none of which is kept, are meant.
    private(set) var isNoCache = false
    /// `private` without field names.
    private(set) var isPrivate = false
    /// Stale means unusable.
    private(set) var mustRevalidate = false
    /// The same for shared caches only.
    private(set) var proxyRevalidate = false
    /// A cache that knows the status code may disregard `no-store` (RFC 9111 §5.2.2.3).
    private(set) var mustUnderstand = false
    /// Whether there was any `Cache-Control` at all.
    private(set) var isPresent = false

    /// Takes one field line; several add up.
    mutating func take(_ line: String) {
        isPresent = true
        for directive in Directive.list(line) { take(directive) }
    }

    private mutating func take(_ directive: Directive) {
        switch directive.name {
        case "max-age": maxAge = maxAge ?? directive.seconds ?? 0
        case "s-maxage": sharedMaxAge = sharedMaxAge ?? directive.seconds ?? 0
        case "stale-while-revalidate":
            staleWhileRevalidate = staleWhileRevalidate ?? directive.seconds ?? 0
        case "stale-if-error": staleIfError = staleIfError ?? directive.seconds ?? 0
        case "no-store": isNoStore = true
        case "no-cache": isNoCache = isNoCache || directive.namesNothing
        case "private": isPrivate = isPrivate || directive.namesNothing
        case "must-revalidate": mustRevalidate = true
        case "proxy-revalidate": proxyRevalidate = true
        case "must-understand": mustUnderstand = true
        default: break
        }
    }
}

extension Directive {
    /// Has no argument, or an empty one: it is meant for the whole response.
    fileprivate var namesNothing: Bool { argument?.isEmpty ?? true }
}
