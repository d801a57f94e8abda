public import CacheKey
import Glibc
internal import Logging
internal import SystemPackage

/// Pins.
extension Cache {
    /// Entries pinned in one turn of the directory's thread; each waits for the disk.
    private static let pinSlice = 32

    /// Pins entries, or no longer; durable when `completion` is called, from the cache's own thread,
    /// with why some could not be. What is on its way is pinned when it lands.
    public func pin(
        _ keys: [CacheKey], _ isPinned: Bool,
        completion: @escaping @Sendable ([CacheKey: Failure]) -> Void
    ) {
        _ = lookup(keys)
        pin(keys[...], isPinned, after: [], completion)
    }

    /// Pins some at a time, after those of which some failed: other work on the directory has its turn in
    /// between.
    private func pin(
        _ keys: ArraySlice<CacheKey>, _ isPinned: Bool, after former: [[CacheKey: Failure]],
        _ completion: @escaping @Sendable ([CacheKey: Failure]) -> Void
    ) {
        worker.enqueue(
            .run {
                let isDraining = self.isDraining
                var failures: [CacheKey: Failure] = [:]
                for key in isDraining ? keys : keys.prefix(Self.pinSlice) {
                    failures[key] = isDraining ? .shuttingDown : self.pin(key, isPinned)
                }
                let all = failures.isEmpty ? former : former + [failures]
                let rest = isDraining ? [] : keys.dropFirst(Self.pinSlice)
                guard rest.isEmpty else {
                    return self.pin(rest, isPinned, after: all, completion)
                }
                completion(all.reduce(into: [:]) { $0.merge($1) { $1 } })
            })
    }

    /// Rewrites one record, on the directory's thread as publishing is: so no pin is lost between two
    /// versions of an image. Returns why it could not.
    private func pin(_ key: CacheKey, _ isPinned: Bool) -> Failure? {
        switch lookup([key])[0] {
        case .missing(let failure): return isPinned ? failure ?? .notCached : forgetPin(of: key)
        case .inFlight: if !isPinned, let failure = forgetPin(of: key) { return failure }
        case .cached(let facts, _, _) where facts.isPinned == isPinned: break
        case .cached:
            do {
                try openingQuietly(key) { (file) throws(Errno) in
                    try directory.setPin(isPinned, of: key, file)
                }
            } catch .notSupported {
                return .keepsNoPins
            } catch {
                return .storage(error, path: path(of: key))
            }
        }
        drainWatch()
        // It may have gone meanwhile.
        let isDone = run { state, effects in
            state.pinned(key, isPinned, &effects)
            return state.isPinned(key) == isPinned
        }
        return isDone ? nil : .notCached
    }

    /// What lies under the name and is no entry is pinned no longer; why it could not be told so.
    func forgetPin(of key: CacheKey) -> Failure? {
        do {
            try directory.forgetPin(of: key)
            return nil
        } catch {
            return .storage(error, path: path(of: key))
        }
    }

    /// Runs `body` with an entry's file, opened without that counting as its use.
    func openingQuietly(
        _ key: CacheKey, _ body: (Int32) throws(Errno) -> Void
    ) throws(Errno) {
        let file = try openQuietly(key)
        defer { close(file) }
        try body(file)
    }

    /// Opens an entry's file for reading without that counting as its use; the caller closes it.
    func openQuietly(_ key: CacheKey, _ flags: Int32 = 0) throws(Errno) -> Int32 {
        let isWatched = watchDescriptor != nil
        // The kernel reports equal events that follow each other as one: a stranger's first.
        drainWatch()
        if isWatched { run { state, _ in state.catalog.openingItself(key) } }
        do {
            let file = try directory.kernel.open(
                key.description, in: directory.descriptor, O_RDONLY | flags)
            drainWatch()
            return file
        } catch {
            if isWatched { run { state, _ in state.catalog.didNotOpen(key) } }
            throw error
        }
    }
}

extension Failure {
    static let notCached = Failure(.notCached, "it is not in the cache; fetch it first")

    static let keepsNoPins = Failure(
        .storage, "the file system keeps no user attributes, and so no pins")
}
