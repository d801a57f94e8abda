public import CacheKey

/// Removing, because a person asked.
extension Cache {
    /// What became of it: what is gone, and why some of it is not; `nil` if the cache is ending, and some may
    /// stay.
    public typealias RemovalEnd = @Sendable ((gone: Removal, failure: Failure?)?) -> Void

    /// Removes these entries, pinned or not, and stops their downloads. `completion` is called from the
    /// cache's own thread once the files are gone.
    public func remove(_ keys: [CacheKey], completion: @escaping RemovalEnd) {
        finishRemoval(of: keys, sparesPinned: false, completion)
    }

    /// Removes every entry and stops every download whose URL begins with the bytes of `prefix`; an
    /// empty one means all, and what lies there of images that are no entries. Pinned entries stay. Reads the
    /// URL attribute of each entry where there is a prefix.
    public func removeAll(prefix: String, completion: @escaping RemovalEnd) {
        let keys = entryKeys(prefix) + flightKeys(prefix) + (prefix.isEmpty ? remains : [])
        finishRemoval(of: keys, sparesPinned: true, completion)
    }

    private func finishRemoval(
        of keys: [CacheKey], sparesPinned: Bool, _ completion: @escaping RemovalEnd
    ) {
        guard directory.isInPlace else { return completion((.nothing, directory.lost)) }
        let place = directory.identity
        _ = lookup(keys)
        finishRemoval(
            of: keys[...], in: place, after: (.nothing, 0), sparesPinned: sparesPinned, completion)
    }

    /// Removes some at a time, after so much that is gone and so many that stay: other work on the directory
    /// has its turn in between. What lies in another that took its place nobody asked to remove.
    private func finishRemoval(
        of keys: ArraySlice<CacheKey>, in place: CacheDirectory.Identity,
        after former: (gone: Removal, stuck: Int), sparesPinned: Bool,
        _ completion: @escaping RemovalEnd
    ) {
        guard place == directory.identity else {
            return completion((former.gone, directory.wasReplaced))
        }
        var removed: [CacheKey: Removal] = [:]
        for key in keys.prefix(VictimSearch.slice) where place == directory.identity {
            let isDisowned = directory.isDisowned(key)
            let part: Removal? = run(in: place) { state, effects in
                // Work that is decided from now on may come too late for the directory's thread.
                guard !state.isDraining else { return nil }
                return state.removeAsked(
                    key, sparesPinned: sparesPinned, isQuarantined: isDisowned, &effects)
            }
            guard let part else { return completion(nil) }
            removed[key] = (removed[key] ?? .nothing) + part
        }
        let rest = keys.dropFirst(VictimSearch.slice)
        afterDirectoryWork { [removed] in
            if !sparesPinned, place == self.directory.identity {
                for (key, part) in removed where part.entries == 0 { _ = self.forgetPin(of: key) }
            }
            // Files that could not be removed are what they were.
            let gone = self.read { state in
                removed.filter { !state.space.unlinkFailed.contains($0.key) }
            }
            let all = (
                gone: gone.values.reduce(former.gone, +),
                stuck: former.stuck + removed.count - gone.count
            )
            guard rest.isEmpty else {
                return self.finishRemoval(
                    of: rest, in: place, after: all, sparesPinned: sparesPinned, completion)
            }
            completion((all.gone, all.stuck > 0 ? self.notRemoved(all.stuck) : nil))
        }
    }

    /// Why files stay that were to go.
    func notRemoved(_ count: Int) -> Failure {
        guard directory.isInPlace else { return directory.lost }
        return Failure(
            .storage,
            "\(count) could not be removed from \(directory.path), the log says why; may the daemon write "
                + "there?")
    }

    /// What lies there and is no entry: of downloads that broke off, and of images that are damaged.
    private var remains: [CacheKey] {
        read { Array($0.space.partials.keys) } + directory.disowned.keys
    }

    private func entryKeys(_ prefix: String) -> [CacheKey] {
        // Asking for the figures takes in what strangers have done, so that it is removed too.
        let isWhole = statistics().isWhole
        let indexed = allEntries().map(\.key)
        let keys = isWhole ? indexed : Array(Set(indexed).union(keysInDirectory()))
        guard !prefix.isEmpty else { return keys }
        return keys.filter { details(of: $0).url?.utf8.starts(with: prefix.utf8) == true }
    }

    /// The names that lie in the directory, for as long as the index does not know them all.
    private func keysInDirectory() -> [CacheKey] {
        do {
            return try directory.entryKeys()
        } catch {
            // The scan that fills the index meets the same error and reports it.
            return []
        }
    }

    private func flightKeys(_ prefix: String) -> [CacheKey] {
        read { state in
            state.downloads.all.lazy
                .filter { $0.value.url.string.utf8.starts(with: prefix.utf8) }
                .map(\.key)
        }
    }
}
