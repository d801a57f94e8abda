import CacheDisk
import CacheFetching
public import CacheKey
import CacheModel
public import CacheValues
import Glibc
internal import Logging
internal import SystemPackage

/// Pinning entries.
extension Cache {
    /// Entries that are pinned in one job of the directory's thread. Each of them waits for the disk.
    private static let pinSlice = 32

    /// Pins or unpins entries. An image that is being downloaded is pinned when it is published.
    ///
    /// - Parameter completion: called on a thread of the cache once the change is durable, with the failures
    ///   of the entries that could not be changed.
    public func pin(
        _ keys: [CacheKey], _ isPinned: Bool,
        completion: @escaping @Sendable ([CacheKey: Failure]) -> Void
    ) {
        _ = lookup(keys)
        pin(keys[...], isPinned, after: [], completion)
    }

    /// Pins one slice of the entries and queues the rest, so that other work on the directory runs in between.
    /// `former` holds the failures of the slices before.
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

    /// Rewrites the record of one entry. This runs on the directory's thread, which also publishes, so no pin is
    /// lost between two versions of an image. Returns the failure, if any.
    private func pin(_ key: CacheKey, _ isPinned: Bool) -> Failure? {
        switch lookup([key])[0] {
        case .missing(let failure) where isPinned: return failure ?? .notCached
        case .missing, .inFlight:
            if !isPinned, let failure = forgetPin(of: key) { return failure }
        case .cached(let facts, _, _) where facts.isPinned == isPinned: break
        case .cached:
            do {
                try openingQuietly(key) { (file) throws(Errno) in
                    try directory.records.setPin(isPinned, of: key, file)
                }
            } catch .notSupported {
                return .keepsNoPins
            } catch {
                return .storage(error, path: path(of: key))
            }
        }
        drainWatch()
        // The entry may have been removed since it was looked up.
        let isDone = run { state, effects in
            state.pinned(key, isPinned, &effects)
            return state.fetching.isPinned(key) == isPinned
        }
        return isDone ? nil : .notCached
    }

    /// Removes the pin from a file that is no entry. Returns the failure, if any.
    func forgetPin(of key: CacheKey) -> Failure? {
        do {
            try directory.forgetPin(of: key)
            return nil
        } catch {
            return .storage(error, path: path(of: key))
        }
    }

    /// Opens an entry's file and runs `body` with it. The opening does not count as a use of the entry.
    func openingQuietly(
        _ key: CacheKey, _ body: (Int32) throws(Errno) -> Void
    ) throws(Errno) {
        let file = try openQuietly(key)
        defer { close(file) }
        try body(file)
    }

    /// Opens an entry's file for reading. The opening does not count as a use; the caller closes the file.
    func openQuietly(_ key: CacheKey, _ flags: Int32 = 0) throws(Errno) -> Int32 {
        let isWatched = watchDescriptor != nil
        // The kernel merges equal events that follow each other. So an event of another program's opening is
        // taken from the queue before this opening adds its own.
        drainWatch()
        if isWatched { run { state, _ in state.disk.accessTimes.openingItself(key) } }
        do {
            let file = try directory.kernel.open(
                key.description, in: directory.descriptor, O_RDONLY | flags)
            drainWatch()
            return file
        } catch {
            if isWatched { run { state, _ in state.disk.accessTimes.didNotOpen(key) } }
            throw error
        }
    }
}

extension Failure {
    static let notCached = Failure(.notCached, "the image is not cached; fetch it first")

    static let keepsNoPins = Failure(
        .storage, "the file system does not support user attributes, which store the pins")
}
