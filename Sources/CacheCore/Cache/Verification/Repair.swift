internal import CacheKey
import CacheModel
import CacheValues
internal import Logging
internal import SystemPackage

/// Handles damaged entries: their files lose their names, and are downloaded again or removed if the verification
/// repairs.
struct Repair {
    /// A damaged entry.
    struct Case {
        let entry: OpenedEntry
        let damage: Damage
        /// How to download it again, if its file tells its URL.
        let wish: ImageRequest?
        /// The digest of the bytes that the file had, if it tells. All names of the file have the same.
        var digest: ContentDigest?
        /// Whether another name of the same file comes before it.
        var isFurtherName = false
    }

    let cache: Cache
    let verification: Verification

    /// Handles a batch of damaged entries; returns the outcome of each.
    func handle(_ cases: [Case]) -> [DamagedEntry] {
        let cases = marked(cases)
        for item in cases { retire(item) }
        let problems = verification.repairs ? repair(cases) : nil
        return cases.map { item in
            let entry = DamagedEntry(
                key: item.entry.key, url: item.wish?.url.string, damage: item.damage,
                end: end(of: item, problems))
            log(entry)
            return entry
        }
    }

    /// Marks all but the first name of each damaged file.
    private func marked(_ cases: [Case]) -> [Case] {
        var previous: OpenedEntry?
        return cases.map { item in
            var item = item
            item.isFurtherName = previous.map { $0.isSameFile(as: item.entry) } ?? false
            previous = item.entry
            return item
        }
    }

    /// Makes an entry missing from now on. If its file can't be changed, it is missing until another file takes
    /// its place, or the daemon restarts.
    private func retire(_ item: Case) {
        let entry = item.entry
        guard entry.damage != .setAside, entry.damage != .directory else { return count(entry) }
        if entry.damage == nil {
            // Before it is set aside, which has to wait for publications.
            cache.directory.quarantine(entry.key, entry.descriptor, item.damage)
        }
        let isFurtherName = item.isFurtherName
        let error = change { directory throws(Errno) in
            if isFurtherName {
                try directory.removeFurtherName(entry)
            } else {
                try directory.setAside(entry)
            }
        }
        if let error {
            reportStay(entry, error)
            if entry.damage == nil { mark(entry) }
        }
        count(entry)
    }

    private func count(_ entry: OpenedEntry) {
        cache.drainWatch()
        cache.run { $0.damageFound(entry.key, &$1) }
    }

    private func reportStay(_ entry: OpenedEntry, _ error: Errno) {
        cache.logger.warning(
            "a damaged file can't be renamed; programs that open it by its name get wrong bytes",
            metadata: [
                "path": "\(cache.path(of: entry.key))", "error": "\(error)",
                "remedy": "\(error.remedy)",
            ])
    }

    private func mark(_ entry: OpenedEntry) {
        let error = change { directory throws(Errno) in try directory.markDamaged(entry) }
        guard let error else { return }
        cache.logger.warning(
            "a damaged entry can't be marked; after a restart it counts as cached again",
            metadata: [
                "key": "\(entry.key)", "error": "\(error)", "remedy": "\(error.remedy)",
            ])
    }

    private func end(of item: Case, _ problems: [CacheKey: String]?) -> DamagedEntry.End {
        // Only a person can remove a directory. Its damage says so.
        guard let problems, item.damage != .directory else { return .left(.damaged(item.damage)) }
        if let problem = problems[item.entry.key] {
            return .left(.damaged(item.damage, "; \(problem)"))
        }
        return item.wish == nil ? .removed : .refetched
    }

    // MARK: Repairing

    /// Downloads the images whose URL is known, and removes the other files. Returns why that failed for some.
    private func repair(_ cases: [Case]) -> [CacheKey: String] {
        var problems: [CacheKey: String] = [:]
        for item in cases where item.wish == nil && item.damage != .directory {
            let error = change { directory throws(Errno) in try directory.remove(item.entry) }
            problems[item.entry.key] = error.map { "it can't be removed: \($0)" }
        }
        let wanted = cases.filter { $0.wish != nil }
        guard !wanted.isEmpty else { return problems }
        guard let failures = downloadAll(wanted) else {
            for item in wanted { problems[item.entry.key] = "the repair was cancelled" }
            return problems
        }
        for (key, failure) in failures {
            problems[key] = "it can't be downloaded again: \(failure.message)"
        }
        return problems
    }

    /// Downloads images; returns the failures, or `nil` if the verification was cancelled. The bytes of a file with
    /// several names are downloaded once, by any of its URLs that still has them.
    private func downloadAll(_ cases: [Case]) -> [CacheKey: Failure]? {
        guard let first = download(cases.filter { !$0.isFurtherName }) else { return nil }
        var failures = first.failures
        let further = Dictionary(
            grouping: cases.filter { $0.isFurtherName && $0.digest != nil }, by: \.digest)
        for case (let digest?, let names) in further {
            for item in names {
                guard let outcome = download([item], digest) else { return nil }
                failures.merge(outcome.failures) { $1 }
            }
            let failed = cases.filter {
                !$0.isFurtherName && $0.digest == digest && failures[$0.entry.key] != nil
            }
            guard !failed.isEmpty else { continue }
            guard let outcome = download(failed, digest) else { return nil }
            for item in failed { failures[item.entry.key] = outcome.failures[item.entry.key] }
        }
        let rest = cases.filter { $0.isFurtherName && $0.digest == nil }
        guard !rest.isEmpty else { return failures }
        guard let outcome = download(rest) else { return nil }
        return failures.merging(outcome.failures) { $1 }
    }

    /// Downloads images and waits for the outcome; `nil` if the verification was cancelled.
    ///
    /// - Parameter digest: any entry with these bytes will do.
    private func download(_ cases: [Case], _ digest: ContentDigest? = nil) -> Outcome? {
        let options = FetchOptions(
            priority: .background, isRefresh: digest == nil, client: verification.client,
            digest: digest)
        let waiter = cache.begin(cases.compactMap(\.wish), options)
        let outcome = cache.verifier.wait(for: waiter, verification) { cache.complete(waiter) }
        if outcome == nil { cache.leave(waiter) }
        return outcome
    }

    /// Changes a file on the directory's thread, so that no publication or confirmation interferes. Returns
    /// why that failed.
    private func change(
        _ body: @escaping @Sendable (CacheDirectory) throws(Errno) -> Void
    ) -> Errno? {
        let done = Inbox<Errno?>()
        let directory = cache.directory
        cache.worker.enqueue(
            .run {
                do throws(Errno) {
                    // The user of a directory that was moved away may want to keep it as it is.
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

extension Failure {
    fileprivate static func damaged(_ damage: Damage, _ more: String = "") -> Failure {
        Failure(.damaged, damage.description + more)
    }
}
