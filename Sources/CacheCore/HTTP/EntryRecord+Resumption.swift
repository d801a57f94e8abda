extension EntryRecord {
    /// The record of an image put together from a partial and the rest of it. What the first response
    /// said and the last does not repeat is taken from the partial (RFC 9111 §3.4).
    init(
        _ report: ImageReport, continuing partial: PartialRecord, _ head: ResponseHead,
        _ times: RequestTimes, _ rules: CachingRules
    ) {
        // A 416 speaks of itself, not of the image: what may be done with that, the origin has to be
        // asked before the next use.
        let isSilent = head.status != 206
        self.init(
            size: partial.total, report, isSilent ? ResponseHead(after: head) : head, times, rules)
        // Nor is there a guess where the first response, which is forgotten, may have said it.
        if isSilent || terms.isGuessed {
            freshUntil = times.received
            terms.mustRevalidate = true
        }
        if removeAt == nil { validators = validators.completed(from: partial.validators) }
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
