internal import CacheKey
internal import Logging
internal import SystemPackage

/// Settles damaged entries: they are entries no longer, and are downloaded anew or removed if that is
/// wished for.
struct Repair {
    /// One of them.
    struct Case {
        let specimen: OpenedEntry
        let damage: Damage
        /// Where it came from, if the file tells.
        let wish: ImageRequest?
    }

    let cache: Cache
    let verification: Verification

    /// Settles a batch; what became of each.
    func settle(_ cases: [Case]) -> [DamagedEntry] {
        for item in cases { disown(item) }
        let failures = verification.repairs ? repair(cases) : nil
        return cases.map { item in
            let entry = DamagedEntry(
                key: item.specimen.key, url: item.wish?.url.string, damage: item.damage,
                end: end(item, failures))
            log(entry)
            return entry
        }
    }

    /// From now on it is missing. Where its file can't be changed, until another takes its place, or a restart.
    private func disown(_ item: Case) {
        let specimen = item.specimen
        var error: Errno?
        if specimen.damage == nil {
            cache.directory.disown(specimen.key, specimen.descriptor, item.damage)
            error = change { directory throws(Errno) in try directory.mark(specimen) }
        }
        if let error {
            cache.logger.warning(
                "a damaged entry can't be marked, so a restart will take it for whole",
                metadata: ["key": "\(specimen.key)", "error": "\(error)"])
        }
        cache.drainWatch()
        cache.run { $0.damageFound(specimen.key, &$1) }
    }

    private func end(_ item: Case, _ failures: [CacheKey: String]?) -> DamagedEntry.End {
        // What nobody but a person can do, the damage says.
        guard let failures, item.damage != .directory else { return .left(.damaged(item.damage)) }
        if let problem = failures[item.specimen.key] {
            return .left(.damaged(item.damage, "; \(problem)"))
        }
        return item.wish == nil ? .removed : .refetched
    }

    // MARK: Repairing

    /// Downloads anew what can be, removes the rest; why that failed for some.
    private func repair(_ cases: [Case]) -> [CacheKey: String] {
        var problems: [CacheKey: String] = [:]
        for item in cases where item.wish == nil && item.damage != .directory {
            let error = change { directory throws(Errno) in try directory.remove(item.specimen) }
            problems[item.specimen.key] = error.map { "it can't be removed: \($0)" }
        }
        let wanted = cases.filter { $0.wish != nil }
        guard !wanted.isEmpty else { return problems }
        let outcome = refetch(wanted)
        for item in wanted {
            let key = item.specimen.key
            if outcome == nil {
                problems[key] = "the repair was cancelled"
            } else if let failure = outcome?.failures[key] {
                problems[key] = "it can't be downloaded anew: \(failure.message)"
            }
        }
        return problems
    }

    private func refetch(_ cases: [Case]) -> Outcome? {
        let wishes = cases.compactMap(\.wish)
        let options = FetchOptions(
            priority: .background, isRefresh: true, client: verification.client)
        let waiter = cache.begin(wishes, options)
        let outcome = cache.verifier.wait(for: waiter, verification) { cache.complete(waiter) }
        if outcome == nil { cache.leave(waiter) }
        return outcome
    }

    /// Changes something on the directory's thread, as whoever confirms or replaces an entry does; why it
    /// can't be done.
    private func change(
        _ body: @escaping @Sendable (CacheDirectory) throws(Errno) -> Void
    ) -> Errno? {
        let done = Inbox<Errno?>()
        let directory = cache.directory
        cache.worker.enqueue(
            .run {
                do throws(Errno) {
                    // One that was moved away somebody may want to keep as it is.
                    guard directory.isInPlace else { throw .noSuchFileOrDirectory }
                    try body(directory)
                    done.put(nil)
                } catch {
                    done.put(error)
                }
            })
        return done.takeAll()?.first ?? nil
    }

    private func log(_ entry: DamagedEntry) {
        cache.logger.warning(
            "an entry is damaged",
            metadata: [
                "key": "\(entry.key)", "url": "\(entry.url ?? "unknown")",
                "damage": "\(entry.damage)", "end": "\(entry.end)",
            ])
    }
}
