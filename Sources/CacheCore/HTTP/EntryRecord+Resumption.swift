extension EntryRecord {
    /// The record of an image put together from a partial and the rest of it, or from all of it and a 416. What
    /// the first response said and the last does not repeat is taken from the partial (RFC 9111 §3.4).
    init(
        _ report: ImageReport, continuing partial: PartialRecord, _ head: ResponseHead,
        _ times: RequestTimes, _ rules: CachingRules
    ) {
        let said = head.status == 206 ? head : ResponseHead(after: head)
        self.init(size: partial.total, report, said, times, rules)
        guard removeAt == nil else { return }
        let freshness = rules.freshness(of: partial, continuedBy: head, times)
        (freshUntil, terms) = (freshness.until, freshness.terms)
        validators = validators.completed(from: partial.validators)
    }
}

extension PartialRecord {
    /// As an entry keeps it.
    fileprivate var validators: Validators {
        switch validator {
        case .entityTag(let tag): Validators(entityTag: tag, source: source)
        case .lastModified(let time): Validators(lastModified: time, source: source)
        }
    }
}
