import CacheFetching
internal import CacheKey
import CacheModel
import CacheValues
internal import Logging
internal import SystemPackage

/// Handles damaged entries: removes their files, and downloads the images again if the verification repairs, or if
/// they are pinned.
struct Repair {
    /// A damaged entry.
    struct Case {
        let entry: OpenedEntry
        let damage: Damage
        /// How to download it again, if its file has its URL.
        let request: ImageRequest?
    }

    let cache: Cache
    let run: VerificationRun

    /// Handles a batch of damaged entries; returns the outcome of each.
    func handle(_ cases: [Case]) -> [DamagedEntry] {
        // Why images are not here, by key.
        var problems: [CacheKey: String] = [:]
        for item in cases { problems[item.entry.key] = remove(item) }
        let removed = cases.filter { problems[$0.entry.key] == nil }
        if run.repairs {
            problems.merge(refetch(removed.compactMap(\.request))) { $1 }
        } else {
            for item in removed { problems[item.entry.key] = refetchIfPinned(item) }
        }
        return cases.map { item in
            let problem = problems[item.entry.key]
            return DamagedEntry(
                key: item.entry.key, url: item.request?.url.string, damage: item.damage,
                end: problem.map { .left(.damaged(item.damage, $0)) }
                    ?? (item.request == nil ? .removed : .refetched))
        }
    }

    // MARK: Removing

    /// Removes the file of an entry; returns why that failed.
    private func remove(_ item: Case) -> String? {
        let problem: String?
        if item.damage == .directory {
            cache.run { $0.damageFound(item.entry.key, &$1) }
            problem = "move the directory away"
        } else if let error = removeFile(item.entry) {
            problem = "its file cannot be removed: \(error); \(error.remedy)"
        } else {
            problem = nil
        }
        let isRefetched = item.request != nil && (run.repairs || item.entry.isPinned)
        let next =
            "its file was removed; "
            + (isRefetched ? "it is downloaded again" : "the next fetch downloads it")
        cache.logger.warning(
            "a cached image is damaged",
            metadata: [
                "path": "\(cache.path(of: item.entry.key))",
                "url": "\(item.request?.url.string ?? "unknown")", "damage": "\(item.damage)",
                "next": "\(problem ?? next)",
            ])
        return problem
    }

    /// Removes a file on the directory's thread, so that no publication or confirmation interferes. Returns why that
    /// failed.
    private func removeFile(_ entry: OpenedEntry) -> Errno? {
        let done = Inbox<Errno?>()
        let cache = cache
        cache.worker.enqueue(
            .run {
                var problem: Errno?
                do throws(Errno) {
                    // The user of a directory that was moved away may want to keep it as it is.
                    guard cache.directory.isInPlace else { throw .noSuchFileOrDirectory }
                    try cache.directory.removeDamaged(entry)
                } catch {
                    problem = error
                }
                // The pin has to be known before another image is published under the name.
                cache.drainWatch()
                cache.run { $0.damageFound(entry.key, isPinned: entry.isPinned, &$1) }
                done.put(problem)
            })
        return done.takeAll()?.first ?? nil
    }

    // MARK: Downloading again

    /// Downloads a pinned image again without waiting for it. Returns what happened to the file.
    private func refetchIfPinned(_ item: Case) -> String {
        guard item.entry.isPinned, let request = item.request,
            cache.fetchDetached([request], FetchOptions(priority: .background))
        else { return "its file was removed" }
        return "its file was removed, and it is downloaded again because it is pinned"
    }

    /// Downloads images again and waits for them. Returns why that failed for some.
    private func refetch(_ requests: [ImageRequest]) -> [CacheKey: String] {
        guard !requests.isEmpty else { return [:] }
        let options = FetchOptions(priority: .background, client: run.client)
        let waiter = cache.begin(requests, options)
        let outcome = cache.verifier.wait(for: waiter, run) { cache.complete(waiter) }
        guard let outcome else {
            cache.leave(waiter)
            return Dictionary(requests.map { ($0.key, "the repair was cancelled") }) { $1 }
        }
        return outcome.failures.mapValues { "it cannot be downloaded again: \($0.message)" }
    }
}

extension Failure {
    fileprivate static func damaged(_ damage: Damage, _ more: String) -> Failure {
        Failure(.damaged, "\(damage); \(more)")
    }
}
