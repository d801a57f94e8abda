import CacheValues
package import ImageFormats

extension EntryRecord {
    /// The record of an image that was just received in one response.
    ///
    /// - Parameters:
    ///   - size: bytes of the image.
    ///   - report: the findings about the bytes.
    ///   - head: the head of the response.
    ///   - times: when the request was sent and the response arrived.
    ///   - rules: the rules of this cache.
    package init(
        size: Int64, _ report: ImageReport, _ head: ResponseHead, _ times: RequestTimes,
        _ rules: CachingRules
    ) {
        let dates = head.dates(now: times.received)
        let freshness = rules.freshness(of: head, times, dates)
        self.init(
            size: size, mediaType: .other, width: nil, height: nil, fetchedAt: times.received,
            freshUntil: freshness.until, validators: Validators(head, dates),
            isPinned: false, terms: freshness.terms)
        take(report)
        isShareable = rules.permitsSharing(head, times, freshness)
        if !rules.permitsStoring(head) { markTransient(rules, now: times.received) }
    }

    /// The record of an image that consists of a partial and the rest of the image, or of a complete partial
    /// that a 416 confirmed. Statements that the last response does not repeat come from the first one
    /// (RFC 9111 §3.4).
    package init(
        _ report: ImageReport, continuing partial: PartialRecord, _ head: ResponseHead,
        _ times: RequestTimes, _ rules: CachingRules
    ) {
        let said = head.status == 206 ? head : ResponseHead(after: head)
        self.init(size: partial.total, report, said, times, rules)
        // A 416 says nothing about the image, and the partial does not say whether it was for everybody.
        isShareable = isShareable && head.status == 206
        guard removeAt == nil else { return }
        let freshness = rules.freshness(of: partial, continuedBy: head, times)
        (freshUntil, terms) = (freshness.until, freshness.terms)
        validators = validators.completed(from: partial.validators)
    }

    /// The record after a 304. `nil` if the 304 concerns another response; the image then has to be requested
    /// without a condition.
    package func confirmed(
        by head: ResponseHead, _ times: RequestTimes, _ rules: CachingRules
    ) -> EntryRecord? {
        let dates = head.dates(now: times.received)
        let named = Validators(head, dates)
        guard named.agree(with: validators) else { return nil }
        var record = self
        record.fetchedAt = min(fetchedAt, times.received)
        let freshness = rules.freshness(of: self, confirmedBy: head, times, dates)
        record.freshUntil = freshness.until
        record.terms = freshness.terms
        record.validators = named.completed(from: validators)
        record.isShareable =
            isShareable
            && rules.permitsSharing(head, times, rules.freshness(of: head, times, dates))
        record.isFromStore = isFromStore
        if !rules.permitsStoring(head) { record.markTransient(rules, now: times.received) }
        return record
    }

    /// Marks an image that must not be stored. It is never a hit and cannot be confirmed. It is removed after
    /// the callers that wait for it have had time to open it.
    private mutating func markTransient(_ rules: CachingRules, now: UnixTime) {
        removeAt = now + rules.noStoreGrace
        freshUntil = now
        isShareable = false
        validators = Validators()
    }
}

extension PartialRecord {
    /// The validator in the form that an entry has.
    fileprivate var validators: Validators {
        switch validator {
        case .entityTag(let tag): Validators(entityTag: tag, source: source)
        case .lastModified(let time): Validators(lastModified: time, source: source)
        }
    }
}
