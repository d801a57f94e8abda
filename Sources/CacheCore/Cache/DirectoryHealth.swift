import CacheDisk
import CacheFetching
import CacheModel
import CacheValues
internal import Logging
internal import Synchronization

/// Checks whether the directory is at its path and writable, takes over a directory that replaced it, and logs every
/// change once. Belongs to the maintenance thread.
struct DirectoryHealth {
    private enum State: Equatable {
        case usable
        case readOnly
        /// No directory at the path could be taken over. The text says why the last attempt failed.
        case lost(String)

        var isLost: Bool {
            if case .lost = self { true } else { false }
        }
    }

    private let cache: Cache
    private var state = State.usable

    init(_ cache: Cache) {
        self.cache = cache
    }

    /// Checks the path, and takes over a directory that has taken the place of the old one.
    mutating func check() {
        let new = probe()
        guard new != state else { return }
        let old = state
        state = new
        log(new)
        if new.isLost != old.isLost { cache.announceEntries() }
        // One that was moved away can be put back.
        if new.isLost, cache.directory.isDeleted || cache.directory.isReplaced {
            cache.reportDirectoryGone()
        }
    }

    private func probe() -> State {
        let directory = cache.directory
        if directory.isInPlace { return directory.isWritable ? .usable : .readOnly }
        do {
            try directory.adopt { cache.followDirectory() }
            cache.logger.notice(
                "the cache directory was replaced; the new one is used from now on",
                metadata: ["directory": "\(directory.path)"])
            return .usable
        } catch {
            return .lost("\(error)")
        }
    }

    private func log(_ state: State) {
        let path = Logger.Metadata.Value(stringLiteral: cache.directory.path)
        switch state {
        case .usable:
            cache.logger.notice(
                "the cache directory is usable again", metadata: ["directory": path])
        case .readOnly:
            cache.logger.error(
                "the file system is read-only: nothing can be fetched, evicted or removed",
                metadata: ["directory": path])
        case .lost(let problem):
            cache.logger.error(
                "the cache directory was moved away or deleted: put it back, or make a new one",
                metadata: ["directory": path, "error": "\(problem)"])
        }
    }
}

extension Cache {
    /// Announces a change of every entry, because nothing is cached while the directory is lost.
    fileprivate func announceEntries() {
        guard read({ $0.fetching.changes.isObserved }) else { return }
        var (position, hasMore) = (0, true)
        while hasMore {
            let stretch = readStretch(&position)
            hasMore = stretch.hasMore
            run { state, effects in
                for entry in stretch.entries { state.fetching.changed(entry.key, &effects) }
            }
        }
    }

    /// Follows the directory after names lead into another one: watches it instead of the old one, and reads it. It
    /// can be on another file system, so limits that are shares of the file system are computed again.
    func followDirectory() {
        watchDirectory()
        let budget = budgetOfDirectory()
        run { state, effects in
            state.directoryReplaced(budget: budget, &effects)
        }
        measure()
    }

    private func budgetOfDirectory() -> Budget? {
        do {
            return try directory.budget(settings.limits)
        } catch {
            logger.warning(
                "limits that are shares of the file system keep their old values; reload the configuration (SIGHUP)",
                metadata: ["directory": "\(directory.path)", "error": "\(error)"])
            return nil
        }
    }
}
