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
                let isDraining = self.performing { state in (state.isDraining, []) }
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
        case .missing(let failure): return isPinned ? failure ?? .notCached : nil
        case .inFlight: break
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
        let isDone = performing { state in
            let effects = state.pinned(key, isPinned)
            return (state.isPinned(key) == isPinned, effects)
        }
        return isDone ? nil : .notCached
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
        if isWatched { perform(silently: { $0.openingItself(key) }) }
        do {
            let file = try directory.kernel.open(
                key.description, in: directory.descriptor, O_RDONLY | flags)
            drainWatch()
            return file
        } catch {
            if isWatched { perform(silently: { $0.didNotOpen(key) }) }
            throw error
        }
    }
}

extension CacheDirectory {
    /// Rewrites an entry's record with or without a pin, and makes that durable.
    func setPin(_ isPinned: Bool, of key: CacheKey, _ file: Int32) throws(Errno) {
        guard keepsAttributes else { throw .notSupported }
        guard let old = try record(of: key, name: key.description) else {
            throw .noSuchFileOrDirectory
        }
        var record = old
        record.isPinned = isPinned
        try rewrite(record, of: key, file)
        do {
            try kernel.synchronize(file)
        } catch {
            // It is not to be taken for what it is not, neither now nor at the next try.
            try rewrite(old, of: key, file)
            throw error
        }
    }

    /// Puts another record in the place of an entry's. fsetxattr(2).
    func rewrite(_ record: EntryRecord, of key: CacheKey, _ file: Int32) throws(Errno) {
        let name = EntryRecord.attributeName(of: key)
        do {
            try kernel.setAttribute(name, record.text, of: file)
        } catch .noSpace {
            // The room is one block of an inode, not the disk: the validators can be had again.
            var bare = record
            bare.validators = Validators()
            try kernel.setAttribute(name, bare.text, of: file)
        }
    }
}

extension Failure {
    static let notCached = Failure(.notCached, "it is not in the cache; fetch it first")

    static let keepsNoPins = Failure(
        .storage, "the file system keeps no user attributes, and so no pins")
}
