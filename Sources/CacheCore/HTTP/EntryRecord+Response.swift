extension EntryRecord {
    /// The record of an image that was received just now.
    init(
        size: Int64, _ report: ImageReport, _ head: ResponseHead, _ times: RequestTimes,
        _ rules: CachingRules
    ) {
        let freshness = rules.freshness(of: head, times)
        self.init(
            size: size, mediaType: report.mediaType ?? .other, width: report.width,
            height: report.height, fetchedAt: times.received, freshUntil: freshness.until,
            validators: Validators(head, now: times.received), isPinned: false,
            terms: freshness.terms)
        if !rules.permitsStoring(head) { markTransient(rules, now: times.received) }
    }

    /// The record after a 304, or `nil` if the 304 speaks of something else; then the image has to be
    /// asked for without a condition.
    func confirmed(
        by head: ResponseHead, _ times: RequestTimes, _ rules: CachingRules
    ) -> EntryRecord? {
        let named = Validators(head, now: times.received)
        guard named.agree(with: validators) else { return nil }
        var record = self
        record.fetchedAt = min(fetchedAt, times.received)
        let freshness = rules.freshness(of: self, confirmedBy: head, times)
        record.freshUntil = freshness.until
        record.terms = freshness.terms
        record.validators = named.completed(from: validators)
        if !rules.permitsStoring(head) { record.markTransient(rules, now: times.received) }
        return record
    }

    /// The image may not be kept: it is never a hit, can't be confirmed, and goes when those who wait
    /// for it have had the time to open it.
    private mutating func markTransient(_ rules: CachingRules, now: UnixTime) {
        removeAt = now + rules.handOverTime
        freshUntil = now
        validators = Validators()
    }
}
