/// Until when a response may be used without asking again, and on which terms later
/// (RFC 9111 §4.2).
struct Freshness: Hashable, Sendable {
    var until: UnixTime
    var terms: ReuseTerms

    /// Nobody knows what was said: stale, and not to be used before the origin was asked.
    static let unknown: Freshness = {
        var terms = ReuseTerms()
        terms.mustRevalidate = true
        return Freshness(until: UnixTime(rawValue: 1), terms: terms)
    }()
}

extension CachingRules {
    /// Of a response and all that redirected to it: each has its say.
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
        // Where nothing is said of it, that is not for ever either.
        if terms.staleIfError != nil || redirect.staleIfError != nil {
            terms.staleIfError = min(
                terms.staleIfError ?? staleIfError, redirect.staleIfError ?? staleIfError)
        }
    }
}

/// When a request went out and its response came in.
struct RequestTimes {
    var sent: UnixTime
    var received: UnixTime
}

extension CachingRules {
    /// How long a response just received is fresh.
    func freshness(of head: ResponseHead, _ times: RequestTimes) -> Freshness {
        limited(freshnessAlone(of: head, times), by: redirects(to: head, times))
    }

    /// How long each redirect on the way is. What says nothing of that itself is not guessed about, unless
    /// it is permanent (RFC 9110 §15.1, RFC 9111 §4.2.2).
    private func redirects(to head: ResponseHead, _ times: RequestTimes) -> [Freshness] {
        head.redirects.map { redirect in
            var freshness = freshnessAlone(of: redirect, times)
            if freshness.terms.isGuessed, ![300, 301, 308].contains(redirect.status) {
                freshness.until = times.received
            }
            return freshness
        }
    }

    private func freshnessAlone(of head: ResponseHead, _ times: RequestTimes) -> Freshness {
        var terms = terms(head)
        let now = times.received
        let dates = head.dates(now: now)
        let lifetime: Int64
        if let said = terms.lifetime {
            lifetime = said
        } else if head.expires != nil {
            lifetime = expiry(dates, now)
        } else {
            terms.isGuessed = true
            lifetime = guess(dates.lastModified, dates.date ?? now)
        }
        return Freshness(until: end(lifetime, head, times), terms: terms)
    }

    /// How long an entry is fresh after a 304: fields that the 304 has replace what is known, the
    /// others stay as they were (RFC 9111 §3.2).
    func freshness(
        of record: EntryRecord, confirmedBy head: ResponseHead, _ times: RequestTimes
    ) -> Freshness {
        let known = record.freshUntil.map { Freshness(until: $0, terms: record.terms) }
        return freshness(known, changed: record.validators.lastModified, updatedBy: head, times)
    }

    /// How long an image is fresh that was put together of parts: as after a 304, what the last response says
    /// replaces what the first one said, and the rest stays (RFC 9111 §3.4). A 416 speaks of itself, not of the
    /// image.
    func freshness(
        of partial: PartialRecord, continuedBy head: ResponseHead, _ times: RequestTimes
    ) -> Freshness {
        guard head.status == 206 else {
            return limited(partial.freshness, by: redirects(to: head, times))
        }
        var changed: UnixTime?
        if case .lastModified(let time) = partial.validator { changed = time }
        return freshness(partial.freshness, changed: changed, updatedBy: head, times)
    }

    private func freshness(
        _ known: Freshness?, changed: UnixTime?, updatedBy head: ResponseHead,
        _ times: RequestTimes
    ) -> Freshness {
        limited(
            freshnessAlone(known, changed: changed, updatedBy: head, times),
            by: redirects(to: head, times))
    }

    private func freshnessAlone(
        _ known: Freshness?, changed: UnixTime?, updatedBy head: ResponseHead,
        _ times: RequestTimes
    ) -> Freshness {
        let wasGuessed = known?.terms.isGuessed ?? true
        var terms = head.cacheControl.isPresent ? terms(head) : known?.terms ?? ReuseTerms()
        terms.isGuessed = false
        let now = times.received
        let dates = head.dates(now: now)
        let lifetime: Int64
        if let said = terms.lifetime {
            lifetime = said
        } else if head.expires != nil {
            lifetime = expiry(dates, now)
        } else if let known, !wasGuessed {
            // `Expires` is a time, which a 304 without one does not move. Behind a lifetime that is taken
            // back there may have been one, which nobody knows any more.
            return Freshness(until: known.terms.lifetime == nil ? known.until : now, terms: terms)
        } else {
            terms.isGuessed = true
            lifetime = guess(dates.lastModified ?? changed, dates.date ?? now)
        }
        return Freshness(until: end(lifetime, head, times), terms: terms)
    }

    /// Seconds for which an error response says it may be repeated instead of asked for again; `nil`
    /// where it says nothing (RFC 9111 §4). One that may not be stored says nothing: that there is no
    /// image is remembered, not the response. Nor does one that a redirect led to say anything of the redirect.
    func statedLifetime(of head: ResponseHead, _ times: RequestTimes) -> Int64? {
        guard permitsStoring(head), head.redirects.isEmpty else { return nil }
        let freshness = freshness(of: head, times)
        return freshness.terms.isGuessed ? nil : max(freshness.until - times.received, 0)
    }

    private func end(
        _ lifetime: Int64, _ head: ResponseHead, _ times: RequestTimes
    ) -> UnixTime {
        // 0 stands for "nothing known" in the index.
        max(times.received + (lifetime - age(head, times)), UnixTime(rawValue: 1))
    }

    /// Seconds from the response's date to `Expires`; an unreadable one is in the past
    /// (RFC 9111 §5.3).
    private func expiry(_ dates: ResponseHead.Dates, _ now: UnixTime) -> Int64 {
        guard let expires = dates.expires else { return 0 }
        return max(expires - (dates.date ?? now), 0)
    }

    private func guess(_ lastModified: UnixTime?, _ date: UnixTime) -> Int64 {
        guard let lastModified else { return unknownLifetime }
        let part = (date - lastModified) * heuristicPercent / 100
        return min(max(part, heuristicBounds.lowerBound), heuristicBounds.upperBound)
    }

    /// Seconds old at its arrival: what other caches counted, and the time it took. The difference of
    /// the clocks is left out, as RFC 9111 §4.2.3 permits: an origin whose clock is slow would
    /// otherwise send nothing but stale images.
    private func age(_ head: ResponseHead, _ times: RequestTimes) -> Int64 {
        (head.age ?? 0) + max(times.received - times.sent, 0)
    }
}
