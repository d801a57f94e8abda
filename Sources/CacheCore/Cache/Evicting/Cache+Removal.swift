import CacheDisk
import CacheFetching
public import CacheKey
import CacheModel
public import CacheValues
internal import Logging
internal import SystemPackage

/// Removing entries on request.
extension Cache {
    /// Called at the end of a removal, with the entries that were removed and the failure of the others. `nil`
    /// if the cache shut down first, and some entries may remain.
    public typealias RemovalEnd = @Sendable ((gone: Removal, failure: Failure?)?) -> Void

    /// Removes these entries, pinned or not, and stops their downloads. `completion` is called on a thread of
    /// the cache once the files are unlinked.
    ///
    /// - Parameter user: the user who asked, for the history.
    public func remove(
        _ keys: [CacheKey], by user: CacheValues.UserID? = nil, completion: @escaping RemovalEnd
    ) {
        finishRemoval(of: keys, sparesPinned: false, by: user, completion)
    }

    /// Removes every entry that is chosen, and stops the downloads that are. If every entry is, partials are removed too.
    public func removeAll(
        _ choice: EntryChoice = EntryChoice(), sparesPinned: Bool = true,
        by user: CacheValues.UserID? = nil,
        completion: @escaping RemovalEnd
    ) {
        var keys = chosen(choice).map(\.key)
        if choice.byFacts == nil {
            let flights = read { state in
                state.fetching.downloads.all.map { ($0.key, $0.value.name.string) }
            }
            keys += flights.lazy.filter { choice.byURL?($1, $0) ?? true }.map(\.0)
            if choice.byURL == nil { keys += read { Array($0.disk.space.partials.keys) } }
        }
        finishRemoval(of: keys, sparesPinned: sparesPinned, by: user, completion)
    }

    private func finishRemoval(
        of keys: [CacheKey], sparesPinned: Bool, by user: CacheValues.UserID?,
        _ completion: @escaping RemovalEnd
    ) {
        guard directory.isInPlace else { return completion((.nothing, directory.lost)) }
        let place = directory.identity
        _ = lookupInPlace(keys)
        finishRemoval(
            of: keys[...], in: place, after: (.nothing, 0), sparesPinned: sparesPinned, by: user,
            completion)
    }

    /// Removes one slice of the entries and queues the rest, so that other work on the directory runs in between.
    /// `former` counts the entries that the slices before removed or could not remove. Stops if another directory
    /// has taken the place of this one: the request was not about its files.
    private func finishRemoval(
        of keys: ArraySlice<CacheKey>, in place: CacheDirectory.Identity,
        after former: (gone: Removal, stuck: Int), sparesPinned: Bool, by user: CacheValues.UserID?,
        _ completion: @escaping RemovalEnd
    ) {
        guard place == directory.identity else {
            return completion((former.gone, directory.wasReplaced))
        }
        var removed: [CacheKey: Removal] = [:]
        for key in keys.prefix(VictimSearch.slice) where place == directory.identity {
            let part: Removal? = run(in: place) { state, effects in
                // During shutdown, the directory's thread may end before it gets to new work.
                guard !state.fetching.isDraining else { return nil }
                return state.removeAsked(key, sparesPinned: sparesPinned, by: user, &effects)
            }
            guard let part else { return completion(nil) }
            removed[key] = (removed[key] ?? .nothing) + part
        }
        let rest = keys.dropFirst(VictimSearch.slice)
        afterDirectoryWork { [removed] in
            if !sparesPinned, place == self.directory.identity {
                for (key, part) in removed where part.entries == 0 {
                    _ = self.forgetPin(of: key)
                }
            }
            // Files that could not be unlinked still count as entries.
            let gone = self.read { state in
                removed.filter { !state.disk.space.unlinkFailed.contains($0.key) }
            }
            let all = (
                gone: gone.values.reduce(former.gone, +),
                stuck: former.stuck + removed.count - gone.count
            )
            guard rest.isEmpty else {
                return self.finishRemoval(
                    of: rest, in: place, after: all, sparesPinned: sparesPinned, by: user,
                    completion)
            }
            completion((all.gone, all.stuck > 0 ? self.notRemoved(all.stuck) : nil))
        }
    }

    /// The failure of a removal or an eviction that could not unlink `count` files.
    func notRemoved(_ count: Int) -> Failure {
        guard directory.isInPlace else { return directory.lost }
        return Failure(
            .storage,
            "\(count) could not be removed from \(directory.path); the log says why. Check that the daemon "
                + "may write there")
    }

    /// The entries that are chosen. The lock is released between batches, so that lookups don't wait for long.
    func chosen(_ choice: EntryChoice) -> [ListedEntry] {
        // `statistics` first applies the changes of other programs, so that files they added are chosen too.
        if !statistics().isWhole { _ = lookup(keysInDirectory()) }
        var entries: [ListedEntry] = []
        var position = 0
        var hasMore = true
        while hasMore {
            let stretch = readStretch(&position)
            entries += stretch.entries.lazy.filter { choice.byFacts?($0) ?? true }
            hasMore = stretch.hasMore
        }
        guard let byURL = choice.byURL else { return entries }
        return entries.filter { entry in
            details(of: entry.key).url.map { byURL($0, entry.key) } ?? false
        }
    }

    /// The names of entries in the directory, for use while the index is not complete.
    private func keysInDirectory() -> [CacheKey] {
        do {
            return try directory.entryKeys()
        } catch {
            // The scan that fills the index meets the same error and reports it.
            return []
        }
    }
}
