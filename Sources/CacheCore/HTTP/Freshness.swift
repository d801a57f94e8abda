/// Until when a response may be used without asking again, and on which terms later
/// (RFC 9111 §4.2).
struct Freshness: Equatable {
    var until: UnixTime
    var terms: ReuseTerms
}

/// When a request went out and its response came in.
struct RequestTimes {
    var sent: UnixTime
    var received: UnixTime
}

extension CachingRules {
    /// How long a response just received is fresh.
    func freshness(of head: ResponseHead, _ times: RequestTimes) -> Freshness {
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
        var terms = head.cacheControl.isPresent ? terms(head) : record.terms
        terms.isGuessed = false
        let now = times.received
        let dates = head.dates(now: now)
        let lifetime: Int64
        if let said = terms.lifetime {
            lifetime = said
        } else if head.expires != nil {
            lifetime = expiry(dates, now)
        } else if record.terms.lifetime == nil, !record.terms.isGuessed, let end = record.freshUntil
        {
            // `Expires` is a time, which a 304 without one does not move.
            return Freshness(until: end, terms: terms)
        } else {
            terms.isGuessed = true
            let changed = dates.lastModified ?? record.validators.lastModified
            lifetime = guess(changed, dates.date ?? now)
        }
        return Freshness(until: end(lifetime, head, times), terms: terms)
    }

    /// Seconds for which an error response says it may be repeated instead of asked for again; `nil`
    /// where it says nothing (RFC 9111 §4). One that may not be stored says nothing: that there is no
    /// image is remembered, not the response.
    func statedLifetime(of head: ResponseHead, _ times: RequestTimes) -> Int64? {
        guard permitsStoring(head) else { return nil }
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
