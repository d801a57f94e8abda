internal import CCurl
internal import CacheKey

/// The entry that is there already: asked about, and used where the origin fails.
extension Transfer {
    /// What is known of the image before the origin is asked.
    enum Question {
        /// Nothing.
        case new
        /// The entry with this record: does it still hold?
        case about(EntryRecord)
        /// There is an entry, but it is not what is asked about: the rest of a newer image is, or a 304 did
        /// not speak of it.
        case apartFrom(EntryRecord)

        /// The entry that is there.
        fileprivate var record: EntryRecord? {
            switch self {
            case .new: nil
            case .about(let record), .apartFrom(let record): record
            }
        }

        /// The same without asking about the entry.
        var unasked: Question { record.map { .apartFrom($0) } ?? .new }
    }

    /// Looks for an entry to ask about, after a partial to continue; before the request is made.
    func findEntry() {
        guard let record = context.directory.entryRecord(of: key) else { return }
        let fields = record.validators.conditionFields
        guard resting == nil, !fields.isEmpty else {
            question = .apartFrom(record)
            return
        }
        question = .about(record)
        headers = RequestHeaders(fields)
    }

    /// Whether the origin's answer speaks of another image than the entry, and has none itself: so the
    /// image has to be asked for.
    var confirmsNothing: Bool {
        guard ownFailure == nil, head.status == 304, case .about(let record) = question else {
            return false
        }
        return confirmed(record) == nil
    }

    /// The transfer is over with libcurl's `code`.
    func end(_ code: CURLcode) -> TransferEnd {
        if code == CURLE_OK, ownFailure == nil, head.status == 304,
            case .about(let asked) = question,
            let record = confirmed(asked)
        {
            return .confirmed(Revalidation(flight: id, key: key, asked: asked, record: record))
        }
        switch finish(code) {
        case .success(let image): return .staged(image)
        case .failure(let failure): return .failed(failed(failure))
        }
    }

    private func confirmed(_ asked: EntryRecord) -> EntryRecord? {
        asked.confirmed(by: head, times, context.settings.caching)
    }

    private func failed(_ failure: Failure) -> FailedTransfer {
        let rules = context.settings.caching
        var failed = FailedTransfer(failure: failure)
        failed.isOrigins = tunnelRefusal == nil
        if failure.kind == .http { failed.said = rules.statement(on: failure, by: head, times) }
        if [.unresolved, .unreachable, .timeout].contains(failure.kind) {
            failed.isOffline = NetworkInterfaces.isOffline
        }
        failed.letsStaleServe =
            failure.letsStaleServe && question.record?.outlivesFailure(at: .now, rules) == true
        return failed
    }
}
