import CacheDisk
public import CacheFetching
public import CacheKey
import CacheModel
public import CacheValues
import HTTPCaching
import ImageFormats
internal import SystemPackage

/// Looking up what is cached.
extension Cache {
    /// Keys that are looked up under one hold of the lock, so that a call with very many keys does not delay
    /// other callers.
    static let stretch = 512

    /// Returns the state of each key, in order. Counts as no use of an entry and starts no download.
    ///
    /// A call takes 0.3 µs and about 0.1 µs a key. A name that another program has changed is probed first,
    /// which takes 3 µs.
    public func lookup(_ keys: [CacheKey], _ view: LookupView = .newest) -> [Lookup] {
        guard directory.isInPlace else {
            // The maintenance thread checks now: the directory may be back by the next lookup.
            maintenance.wakeUp()
            let lost = Lookup.missing(directory.lost)
            return keys.map { _ in lost }
        }
        return lookupInPlace(keys, view)
    }

    /// The same for a caller that has just found the directory in place, which costs a stat(2).
    func lookupInPlace(_ keys: [CacheKey], _ view: LookupView = .newest) -> [Lookup] {
        var answers: [Lookup] = []
        answers.reserveCapacity(keys.count)
        var unknown: [Int] = []
        for stretch in keys.chunks(ofCount: Self.stretch) {
            lookUpInMemory(stretch, view, &answers, unknown: &unknown)
        }
        for place in unknown { answers[place] = probe(keys[place], view) }
        let recovered = recovered(keys, view) {
            guard case .cached(let facts, _, _) = answers[$0] else { return false }
            return facts.mediaType == .other
        }
        for (place, answer) in recovered { answers[place] = answer }
        return answers
    }

    /// Probes a name, and answers as the view shows the result.
    func probe(_ key: CacheKey, _ view: LookupView) -> Lookup {
        let answer = probe(key)
        guard view != .newest else { return answer }
        return run { state, _ in state.fetching.lookup(key, view) ?? answer }
    }

    /// Probes a name until it has not changed during the probe, and enters the result in the index.
    private func probe(_ key: CacheKey) -> Lookup {
        // A name that changes during every probe is being changed on purpose. The result of the last probe
        // was true at its time.
        var last: EntryFacts?
        for _ in 0..<8 {
            let start = beginProbe()
            let seen: EntryProbe
            do {
                seen = try directory.probe(key)
            } catch {
                endProbe()
                return .missing(.unreadable(error, path: path(of: key)))
            }
            last = if case .entry(let facts) = seen { facts } else { nil }
            drainWatch()
            let answer = run { state, effects in
                state.probed(key, seen, since: start, now: .now, &effects)
            }
            if let answer { return answer }
        }
        return last.map { .cached($0, failure: nil, refresh: nil) } ?? .missing(nil)
    }

    private func endProbe() {
        run { state, _ in state.disk.endProbe() }
    }

    /// Returns the details of an entry that the index does not hold. Reads the file's attributes: 10 µs.
    ///
    /// - Parameters:
    ///   - facts: those of the entry, for a caller that has them.
    ///   - withOrigin: whether to read what a request to the origin depends on.
    public func details(
        of key: CacheKey, _ facts: EntryFacts? = nil, withOrigin: Bool = false
    ) -> EntryDetails {
        EntryDetails(
            url: ifPossible { () throws(Errno) in try directory.ownURL(of: key) },
            sha256: ifPossible { () throws(Errno) in try directory.digest(of: key) },
            source: ifPossible { () throws(Errno) in try directory.source(of: key) },
            names: facts?.isLinked == false ? 1 : names(of: key),
            origin: withOrigin ? directory.entryRecord(of: key).map { OriginDetails($0) } : nil)
    }

    /// The path of a key's file. The file need not exist.
    public func path(of key: CacheKey) -> String {
        "\(directory.path)/\(key)"
    }
}

extension CacheDirectory {
    /// The failure of calls while the path does not lead to the directory that was opened.
    var lost: Failure {
        let problem =
            isDeleted
            ? "was deleted; the daemon creates it again if its parent directory exists: try again"
            : "was moved away; move it back or create a new one, then try again"
        return Failure(.storage, "the cache directory \(path) \(problem)")
    }

    /// The failure of a removal if another directory has taken the place of the one it was asked for.
    var wasReplaced: Failure {
        Failure(
            .storage,
            "another directory took the place of \(path), and nothing is removed from it; try again"
        )
    }
}
