/// What HTTP leaves to the cache itself: whether it serves one user or several, and how long it uses
/// what nobody said anything about (RFC 9111 §1, §4.2.2).
public struct CachingRules: Hashable, Sendable {
    /// Serves several users: `private` is then not stored, `s-maxage` obeyed.
    public var isShared = false
    /// Seconds a response stays fresh that says nothing at all; an hour by default.
    public var unknownLifetime: Int64 = 3600
    /// Percent of the time since the last change for which a response that says only that is taken to
    /// be fresh.
    public var heuristicPercent: Int64 = 10
    /// Bounds of that guess in seconds: one minute to seven days by default.
    public var heuristicBounds: ClosedRange<Int64> = 60...(7 * 86400)
    /// Seconds a stale entry is used while the origin fails, where the origin named no other; a day by
    /// default.
    public var staleIfError: Int64 = 86400
    /// Seconds an image that must not be stored stays for those who waited for it.
    public var handOverTime: Int64 = 60

    public init() {}
}

/// What an origin permits of a response after it was stored, boiled down for this cache: the
/// directives that still matter when the head is gone (RFC 9111 §5.2.2, RFC 5861).
public struct ReuseTerms: Hashable, Sendable {
    /// Seconds each confirmation makes it fresh for; `nil` if `Expires` or a guess set the time.
    public var lifetime: Int64?
    /// The time until when it is fresh is the cache's guess.
    public var isGuessed = false
    /// Once stale it may not be used before the origin has confirmed it, failures or not.
    public var mustRevalidate = false
    /// Seconds of use after it became stale while it is asked about in the background.
    public var staleWhileRevalidate: Int64?
    /// Seconds of use after it became stale because the origin fails, if the origin named them.
    public var staleIfError: Int64?

    public init() {}
}

extension ReuseTerms {
    /// Hands over its fields as records have them, in order; `nil` for those that are left out.
    func forEachField(_ body: (_ name: String, _ value: String?) -> Void) {
        body("lifetime", lifetime.map { String($0) })
        body("guessed", isGuessed ? "1" : nil)
        body("strict", mustRevalidate ? "1" : nil)
        body("swr", staleWhileRevalidate.map { String($0) })
        body("sie", staleIfError.map { String($0) })
    }
}

extension CachingRules {
    /// What remains of a head's directives.
    func terms(_ head: ResponseHead) -> ReuseTerms {
        let control = head.cacheControl
        var terms = ReuseTerms()
        terms.lifetime = isShared ? control.sharedMaxAge ?? control.maxAge : control.maxAge
        terms.staleWhileRevalidate = control.staleWhileRevalidate
        terms.staleIfError = control.staleIfError
        terms.mustRevalidate = control.mustRevalidate
        if isShared {
            // `s-maxage` means `proxy-revalidate` too (RFC 9111 §5.2.2.10).
            let forbids = control.proxyRevalidate || control.sharedMaxAge != nil
            terms.mustRevalidate = terms.mustRevalidate || forbids
        }
        if control.isNoCache || (head.hasPragmaNoCache && !control.isPresent) {
            terms.lifetime = 0
            terms.mustRevalidate = true
        }
        return terms
    }

    /// Whether a response may be kept for later requests, and whatever redirected to it. One that may not
    /// is handed to those who wait for it and goes soon after.
    func permitsStoring(_ head: ResponseHead) -> Bool {
        permitStoringAlone(head) && head.redirects.allSatisfy(permitStoringAlone)
    }

    private func permitStoringAlone(_ head: ResponseHead) -> Bool {
        let control = head.cacheControl
        if control.isNoStore && !control.mustUnderstand { return false }
        return !(isShared && control.isPrivate) && !head.variesOnAnything
    }
}
