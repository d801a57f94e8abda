public import CacheKey
internal import SystemPackage

/// Questions.
extension Cache {
    /// Keys dealt with under one hold of the lock, so that a caller with very many delays nobody.
    static let stretch = 512

    /// What is known of each key, in order. Touches nothing and starts nothing.
    ///
    /// 0.3 µs and about 0.1 µs a key, as long as nothing changed behind the cache's back; a name that
    /// did is looked at first, 3 µs.
    public func lookup(_ keys: [CacheKey], _ view: LookupView = .newest) -> [Lookup] {
        guard directory.isInPlace else {
            // It may be back by the next question.
            upkeep.wakeUp()
            let lost = Lookup.missing(directory.lost)
            return keys.map { _ in lost }
        }
        var answers: [Lookup] = []
        answers.reserveCapacity(keys.count)
        var unknown: [Int] = []
        var rest = keys[...]
        while !rest.isEmpty {
            let stretch = rest.prefix(Self.stretch)
            rest = rest.dropFirst(stretch.count)
            lookUpInMemory(stretch, view, &answers, unknown: &unknown)
        }
        for place in unknown { answers[place] = probe(keys[place], view) }
        return answers
    }

    private func probe(_ key: CacheKey, _ view: LookupView) -> Lookup {
        let answer = probe(key)
        guard view != .newest else { return answer }
        return run { state, _ in state.lookup(key, view) ?? answer }
    }

    /// Looks at a name until it holds still, and takes in what was seen.
    private func probe(_ key: CacheKey) -> Lookup {
        // A name that changes at every look is somebody's game: the last look tells what was there then.
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
                defer { state.catalog.endProbe() }
                return state.probed(key, seen, since: start, now: .now, &effects)
            }
            if let answer { return answer }
        }
        return last.map { .cached($0, failure: nil, refresh: nil) } ?? .missing(nil)
    }

    private func endProbe() {
        run { state, _ in state.catalog.endProbe() }
    }

    /// What the attributes of an entry say beyond the index; reads the file's attributes, 5 µs.
    public func details(of key: CacheKey) -> EntryDetails {
        EntryDetails(
            // What is not the URL of this name was garbled.
            url: attribute(EntryAttributes.url, of: key).flatMap { key.isName(of: $0) ? $0 : nil },
            sha256: attribute(EntryAttributes.sha256, of: key).flatMap { ContentDigest($0) })
    }

    /// What can't be read is answered like what isn't there.
    func attribute(_ name: String, of key: CacheKey) -> String? {
        do {
            return try directory.attribute(name, of: key)
        } catch {
            return nil
        }
    }

    /// The path of a key's file, whether it exists or not.
    public func path(of key: CacheKey) -> String {
        "\(directory.path)/\(key)"
    }
}

/// What only the attributes of an entry's file tell.
public struct EntryDetails: Sendable {
    public let url: String?
    public let sha256: ContentDigest?
}

extension CacheDirectory {
    /// The answer while the path does not lead to the directory that was opened.
    var lost: Failure {
        let problem =
            isDeleted
            ? "was deleted; it is made anew where the directory above it is there: ask again"
            : "was moved away; put it back, or make it anew and ask again"
        return Failure(.storage, "the cache directory \(path) \(problem)")
    }

    /// The answer to what was asked of a directory in whose place another is now.
    var wasReplaced: Failure {
        Failure(
            .storage,
            "another directory took the place of \(path) meanwhile, from which nothing more goes; ask again"
        )
    }
}
