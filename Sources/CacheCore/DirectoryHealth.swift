internal import Logging
internal import Synchronization

/// Whether the directory is where it belongs and can be written to: what is done where it is not, and what
/// the log says of it, once. Belongs to the thread that keeps the cache in order.
struct DirectoryHealth {
    private enum State: Equatable {
        case well
        case readOnly
        /// Why nothing at the path could be taken over, last.
        case lost(String)

        var isLost: Bool {
            if case .lost = self { true } else { false }
        }
    }

    private let cache: Cache
    private var state = State.well

    init(_ cache: Cache) {
        self.cache = cache
    }

    /// Looks, and takes over what lies at the path if that is another directory.
    mutating func check() {
        let seen = look()
        guard seen != state else { return }
        let old = state
        state = seen
        say(seen, old)
        if seen.isLost != old.isLost { cache.announceEntries() }
    }

    private func look() -> State {
        let directory = cache.directory
        if directory.isInPlace { return directory.isWritable ? .well : .readOnly }
        do {
            try directory.adopt { cache.followDirectory() }
            cache.logger.notice(
                "another directory lies at the path and is used from now on",
                metadata: ["directory": "\(directory.path)"])
            return .well
        } catch {
            return .lost("\(error)")
        }
    }

    private func say(_ state: State, _ old: State) {
        let path = Logger.Metadata.Value(stringLiteral: cache.directory.path)
        switch state {
        case .well:
            cache.logger.notice("the directory is well again", metadata: ["directory": path])
        case .readOnly:
            cache.logger.error(
                "the file system is read-only: nothing can be fetched, evicted or removed",
                metadata: ["directory": path])
        case .lost(let problem):
            cache.logger.error(
                "the directory was moved away or deleted: put it back, or make it anew",
                metadata: ["directory": path, "error": "\(problem)"])
        }
    }
}

extension Cache {
    /// Another answer is due of every entry: nothing is cached while the directory is lost.
    fileprivate func announceEntries() {
        guard read({ $0.changes.isObserved }) else { return }
        var (position, hasMore) = (0, true)
        while hasMore {
            let stretch = readStretch(&position)
            hasMore = stretch.hasMore
            run { state, effects in
                for entry in stretch.entries { state.changed(entry.key, &effects) }
            }
        }
    }

    /// Names lead into another directory: it is watched in the place of the old one, and read. It may be on
    /// another file system, of which the limits are shares.
    func followDirectory() {
        watchDirectory()
        let budget = budgetOfDirectory()
        run { state, effects in
            if let budget { state.space.budget = budget }
            state.directoryReplaced(&effects)
        }
        measure()
    }

    private func budgetOfDirectory() -> Budget? {
        do {
            return try directory.budget(limits.withLock { $0 })
        } catch {
            logger.warning(
                "limits that are shares of the file system stay those of the one before; SIGHUP sets them anew",
                metadata: ["directory": "\(directory.path)", "error": "\(error)"])
            return nil
        }
    }
}
