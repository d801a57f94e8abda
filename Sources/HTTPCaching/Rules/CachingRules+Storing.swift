extension CachingRules {
    /// The terms that the directives of a response set for this cache.
    func terms(_ head: ResponseHead) -> ReuseTerms {
        let control = head.cacheControl
        var terms = ReuseTerms()
        terms.lifetime = isShared ? control.sharedMaxAge ?? control.maxAge : control.maxAge
        terms.staleWhileRevalidate = control.staleWhileRevalidate
        terms.staleIfError = control.staleIfError
        terms.mustRevalidate = control.mustRevalidate
        if isShared {
            // `s-maxage` implies `proxy-revalidate` (RFC 9111 §5.2.2.10).
            let forbids = control.proxyRevalidate || control.sharedMaxAge != nil
            terms.mustRevalidate = terms.mustRevalidate || forbids
        }
        if control.isNoCache || (head.hasPragmaNoCache && !control.isPresent) {
            terms.lifetime = 0
            terms.mustRevalidate = true
        }
        return terms
    }

    /// Whether a response, and every redirect that led to it, may be stored for later requests.
    ///
    /// If not, the callers that wait for the image get it, and it is removed soon after.
    package func permitsStoring(_ head: ResponseHead) -> Bool {
        permitStoringAlone(head) && head.redirects.allSatisfy(permitStoringAlone)
    }

    /// Whether a cache that several machines share may keep the response too, with the freshness that it has here.
    ///
    /// - Parameter own: the freshness of the response here.
    package func permitsSharing(
        _ head: ResponseHead, _ times: RequestTimes, _ own: Freshness
    ) -> Bool {
        var shared = self
        shared.isShared = true
        // The rules of this machine are not those of the others.
        guard shared.permitsStoring(head), !own.terms.isRuled else { return false }
        // From the same terms follows the same freshness, unless redirects have terms too.
        return isShared || head.redirects.isEmpty && shared.terms(head) == terms(head)
            || shared.freshness(of: head, times) == own
    }

    private func permitStoringAlone(_ head: ResponseHead) -> Bool {
        let control = head.cacheControl
        if control.isNoStore && !control.mustUnderstand { return false }
        let isPrivate = control.isPrivate || head.isPersonal
        return !(isShared && isPrivate) && !head.variesOnAnything
    }
}
