/// The directives of a response's `Cache-Control` that concern a cache of files (RFC 9111 §5.2.2,
/// RFC 5861).
///
/// `public` is left out. It matters only for requests with credentials, and the cache sends none. If a
/// directive is given twice, the first one counts (RFC 9111 §4.2.1). A directive whose number is missing or
/// unreadable counts as 0, so that it forbids what the number would have permitted.
struct CacheControl: Equatable, Sendable {
    /// Seconds for which the response is fresh.
    private(set) var maxAge: Int64?
    /// The same as ``maxAge``, for shared caches only.
    private(set) var sharedMaxAge: Int64?
    /// Seconds for which a stale response can be used while the origin is asked in the background.
    private(set) var staleWhileRevalidate: Int64?
    /// Seconds for which a stale response can be used because the origin fails.
    private(set) var staleIfError: Int64?
    private(set) var isNoStore = false
    /// `no-cache` without field names. With field names it concerns only those fields, and the cache keeps
    /// none of them.
    private(set) var isNoCache = false
    /// `private` without field names.
    private(set) var isPrivate = false
    /// A stale response must not be used before the origin has confirmed it.
    private(set) var mustRevalidate = false
    /// The same as ``mustRevalidate``, for shared caches only.
    private(set) var proxyRevalidate = false
    /// A cache that understands the status code may ignore `no-store` (RFC 9111 §5.2.2.3).
    private(set) var mustUnderstand = false
    /// Whether the response has any `Cache-Control` line.
    private(set) var isPresent = false

    /// Adds the directives of one field line.
    mutating func add(line: String) {
        isPresent = true
        for directive in Directive.list(line) { add(directive) }
    }

    private mutating func add(_ directive: Directive) {
        switch directive.name {
        case "max-age": maxAge = maxAge ?? directive.seconds ?? 0
        case "s-maxage": sharedMaxAge = sharedMaxAge ?? directive.seconds ?? 0
        case "stale-while-revalidate":
            staleWhileRevalidate = staleWhileRevalidate ?? directive.seconds ?? 0
        case "stale-if-error": staleIfError = staleIfError ?? directive.seconds ?? 0
        case "no-store": isNoStore = true
        case "no-cache": isNoCache = isNoCache || directive.namesNoFields
        case "private": isPrivate = isPrivate || directive.namesNoFields
        case "must-revalidate": mustRevalidate = true
        case "proxy-revalidate": proxyRevalidate = true
        case "must-understand": mustUnderstand = true
        default: break
        }
    }
}

extension Directive {
    /// Whether the directive concerns the whole response: its argument is missing or empty.
    fileprivate var namesNoFields: Bool { argument?.isEmpty ?? true }
}
