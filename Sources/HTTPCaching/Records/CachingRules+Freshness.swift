import CacheValues

extension CachingRules {
    /// How long a response is fresh that was just received.
    package func freshness(of head: ResponseHead, _ times: RequestTimes) -> Freshness {
        freshness(of: head, times, head.dates(now: times.received))
    }

    /// - Parameter dates: those of the response. Parsing them is a large part of the time.
    func freshness(
        of head: ResponseHead, _ times: RequestTimes, _ dates: ResponseHead.Dates
    ) -> Freshness {
        raised(
            limited(freshnessAlone(of: head, times, dates), by: redirects(to: head, times)),
            head, times)
    }

    /// How long an entry is fresh after a 304. The fields of the 304 replace the known ones, and the other
    /// known fields stay (RFC 9111 §3.2).
    func freshness(
        of record: EntryRecord, confirmedBy head: ResponseHead, _ times: RequestTimes,
        _ dates: ResponseHead.Dates
    ) -> Freshness {
        let known = record.freshUntil.map { Freshness(until: $0, terms: record.terms) }
        return freshness(
            known, changed: record.validators.lastModified, updatedBy: head, times, dates)
    }

    /// How long an image is fresh that was received in two parts. As after a 304, the fields of the last
    /// response replace those of the first one (RFC 9111 §3.4). The fields of a 416 concern only the 416 and
    /// not the image.
    func freshness(
        of partial: PartialRecord, continuedBy head: ResponseHead, _ times: RequestTimes
    ) -> Freshness {
        guard head.status == 206 else {
            return raised(
                limited(partial.freshness, by: redirects(to: head, times)), head, times)
        }
        var changed: UnixTime?
        if case .lastModified(let time) = partial.validator { changed = time }
        return freshness(
            partial.freshness, changed: changed, updatedBy: head, times,
            head.dates(now: times.received))
    }

    private func freshness(
        _ known: Freshness?, changed: UnixTime?, updatedBy head: ResponseHead,
        _ times: RequestTimes, _ dates: ResponseHead.Dates
    ) -> Freshness {
        raised(
            limited(
                freshnessAlone(known, changed: changed, updatedBy: head, times, dates),
                by: redirects(to: head, times)), head, times)
    }

    /// At least as long as the user's own rule says, if the response may be stored at all.
    private func raised(
        _ freshness: Freshness, _ head: ResponseHead, _ times: RequestTimes
    ) -> Freshness {
        let end = times.received + minimumLifetime
        var raised = freshness
        raised.terms.isRuled = minimumLifetime > 0 && freshness.until < end && permitsStoring(head)
        if raised.terms.isRuled { raised.until = end }
        return raised
    }

    // MARK: One response

    /// Nothing is fresh for longer than a year, in seconds.
    private static let longestLifetime: Int64 = 365 * 86_400

    private func freshnessAlone(
        of head: ResponseHead, _ times: RequestTimes, _ dates: ResponseHead.Dates
    ) -> Freshness {
        var terms = terms(head)
        let now = times.received
        let lifetime: Int64
        if let said = terms.lifetime {
            lifetime = said
        } else if head.expires != nil {
            lifetime = expiry(dates, now)
        } else {
            terms.isGuessed = true
            lifetime = guess(dates.lastModified, dates.date ?? now, now)
        }
        return Freshness(until: end(lifetime, head, times), terms: terms)
    }

    private func freshnessAlone(
        _ known: Freshness?, changed: UnixTime?, updatedBy head: ResponseHead,
        _ times: RequestTimes, _ dates: ResponseHead.Dates
    ) -> Freshness {
        let wasGuessed = known?.terms.isGuessed ?? true
        var terms = head.cacheControl.isPresent ? terms(head) : known?.terms ?? ReuseTerms()
        terms.isGuessed = false
        let now = times.received
        let lifetime: Int64
        if let said = terms.lifetime {
            lifetime = said
        } else if head.expires != nil {
            lifetime = expiry(dates, now)
        } else if let known, !wasGuessed {
            // A 304 without `Expires` does not move the time of the known one. If a `max-age` is withdrawn,
            // there may have been an `Expires` beside it, which is not known any more: stale is safe.
            return Freshness(until: known.terms.lifetime == nil ? known.until : now, terms: terms)
        } else {
            terms.isGuessed = true
            lifetime = guess(dates.lastModified ?? changed, dates.date ?? now, now)
        }
        return Freshness(until: end(lifetime, head, times), terms: terms)
    }

    private func end(
        _ lifetime: Int64, _ head: ResponseHead, _ times: RequestTimes
    ) -> UnixTime {
        // At least 1, because 0 means "not known" in the index.
        max(
            times.received + (min(lifetime, Self.longestLifetime) - age(head, times)),
            UnixTime(rawValue: 1))
    }

    /// Seconds from the response's date to `Expires`. An unreadable `Expires` is in the past
    /// (RFC 9111 §5.3).
    private func expiry(_ dates: ResponseHead.Dates, _ now: UnixTime) -> Int64 {
        guard let expires = dates.expires else { return 0 }
        return max(expires - (dates.date ?? now), 0)
    }

    /// A date in the future makes nothing fresh for longer.
    private func guess(
        _ lastModified: UnixTime?, _ date: UnixTime, _ now: UnixTime
    ) -> Int64 {
        guard let lastModified else { return unknownLifetime }
        let part = (min(date, now) - lastModified) * heuristicPercent / 100
        return min(max(part, heuristicBounds.lowerBound), heuristicBounds.upperBound)
    }

    /// The age of the response in seconds when it arrived: the time in other caches and the time of the
    /// transfer.
    ///
    /// The difference of the clocks is left out, as RFC 9111 §4.2.3 permits. Otherwise every image of an origin
    /// with a slow clock would be stale.
    private func age(_ head: ResponseHead, _ times: RequestTimes) -> Int64 {
        (head.age ?? 0) + max(times.received - times.sent, 0)
    }

    // MARK: Redirects

    /// How long each redirect on the way is fresh. The lifetime of a redirect is guessed only if the redirect
    /// is permanent (RFC 9110 §15.1, RFC 9111 §4.2.2).
    private func redirects(to head: ResponseHead, _ times: RequestTimes) -> [Freshness] {
        head.redirects.map { redirect in
            var freshness = freshnessAlone(
                of: redirect, times, redirect.dates(now: times.received))
            if freshness.terms.isGuessed, ![300, 301, 308].contains(redirect.status) {
                freshness.until = times.received
            }
            return freshness
        }
    }

    /// The strictest of a response and the redirects that led to it.
    private func limited(_ own: Freshness, by redirects: [Freshness]) -> Freshness {
        redirects.reduce(into: own) { all, redirect in
            all.until = min(all.until, redirect.until)
            limit(&all.terms, by: redirect.terms)
        }
    }

    private func limit(_ terms: inout ReuseTerms, by redirect: ReuseTerms) {
        terms.mustRevalidate = terms.mustRevalidate || redirect.mustRevalidate
        terms.staleWhileRevalidate = terms.staleWhileRevalidate.flatMap { seconds in
            redirect.staleWhileRevalidate.map { min(seconds, $0) }
        }
        // If only one of the two names a time, the default is the limit of the other.
        if terms.staleIfError != nil || redirect.staleIfError != nil {
            terms.staleIfError = min(
                terms.staleIfError ?? staleIfError, redirect.staleIfError ?? staleIfError)
        }
    }
}
