import CacheDisk
import CacheFetching
internal import CacheKey
import CacheModel
import CacheValues

/// Taking part in the work of the directory's threads.
extension Cache: DirectoryWorkerDelegate {
    /// Publications that are recorded under one hold of the lock.
    private static let publishedStretch = 8

    func pinned(among keys: [CacheKey]) -> Set<CacheKey> {
        read { state in Set(keys.filter { state.fetching.isPinned($0) }) }
    }

    func originals(of digest: ContentDigest, size: Int64, for key: CacheKey) -> [any OpenFile] {
        let found = read { state in
            state.disk.index.originals(of: digest.prefix, size: size, for: key).map {
                (key: $0, names: state.disk.index.names(of: $0))
            }
        }
        // Otherwise the attributes of further names could leave no room for those of the first.
        for name in found.flatMap(\.names) { directory.writeAttributes(of: name) }
        return found.compactMap { openOriginal($0.key) }
    }

    /// Opens the file of an entry to compare or to link it; `nil` if that fails. Neither is a use.
    func openOriginal(_ key: CacheKey) -> OpenedEntry? {
        do {
            return OpenedEntry(
                key: key, descriptor: try openWithoutAccessTime(key), isPinned: false)
        } catch {
            return nil
        }
    }

    /// Gives an entry the attributes that its file lacks. This runs on the directory's thread.
    func complete(_ key: CacheKey, from url: CacheURL, named name: CacheURL) {
        directory.writeAttributes(of: key)
        if let entry = openOriginal(key) { directory.complete(entry, from: url, named: name) }
        drainWatch()
        _ = lookupInPlace([key])
    }

    func published(_ publications: [Publication]) {
        drainWatch()
        var publications = publications
        let start = beginProbe()
        probeDisturbed(&publications, since: start)
        var dirty: [CacheKey] = []
        for stretch in publications.chunks(ofCount: Self.publishedStretch) {
            run { state, effects in
                for publication in stretch { state.published(publication, &effects) }
                dirty += stretch.lazy.map(\.key).filter {
                    state.disk.dirtyNames.contains($0)
                }
            }
        }
        run { state, _ in state.disk.endProbe() }
        // They are probed now, so that the next question is quick.
        if !dirty.isEmpty { _ = lookupInPlace(dirty) }
    }

    /// Probes the names that others may have touched, so that nobody has to after the images are reported. A name that
    /// came by a rename is one of them: the watch may report two renames as one.
    private func probeDisturbed(
        _ publications: inout [Publication], since start: ChangeEpochs.Start
    ) {
        let disturbed = read { state in
            // Then every question probes the name anyway.
            guard state.disk.validity != .stale else { return [Int]() }
            return publications.indices.filter { index in
                guard case .success = publications[index].result else { return false }
                let observer = state.fetching.downloads[publications[index].key]?.observer
                return observer?.isUndisturbed(losses: state.disk.losses) == false
            }
        }
        for index in disturbed {
            do {
                let probe = try directory.probe(publications[index].key)
                publications[index].probed(probe, since: start)
            } catch {
                // It is probed again when somebody asks for it.
                continue
            }
        }
        if !disturbed.isEmpty { drainWatch() }
    }

    func unlinked(_ victim: Victim, isGone: Bool) {
        run { state, effects in
            if isGone {
                state.unlinked([victim], &effects)
            } else {
                state.unlinkFailed([victim], othersCould: false, &effects)
            }
        }
    }
}
