internal import CacheKey

/// What may be done with an entry that is no longer fresh.
struct Staleness: Equatable {
    var reuse: Reuse
    /// It is the answer where the origin fails.
    var outlivesFailure: Bool
}

/// Answers without waiting for the origin.
extension CacheState {
    /// What becomes of a wish before any download.
    private enum Answer {
        case hit
        /// A hit, and the origin is asked in the background.
        case hitAndAsk
        /// A hit because the origin failed a short while ago.
        case staleHit
        case failure(Failure)
        /// The origin has to be asked first.
        case ask
    }

    /// Answers a wish from what is there or remembered; `nil` if the origin has to be asked first.
    mutating func answered(
        _ key: CacheKey, _ url: CacheURL, by waiter: WaiterID?, _ stale: Staleness?,
        now: UnixTime
    ) -> [Effect]? {
        switch answer(key, stale, now) {
        case .ask: return nil
        case .hit:
            counters.hits += 1
            return []
        case .hitAndAsk:
            counters.hits += 1
            return revalidate(key, url)
        case .staleHit:
            counters.hits += 1
            counters.staleAnswers += 1
            return []
        case .failure(let failure):
            counters.misses += 1
            counters.failuresRepeated += 1
            if let waiter { waiters[waiter]?.failures[key] = failure }
            return []
        }
    }

    private func answer(_ key: CacheKey, _ stale: Staleness?, _ now: UnixTime) -> Answer {
        // Who comes while it is being tried again waits for that, unless a stale entry will do.
        let remembered =
            flights.contains(key)
            ? nil : failures.answer(for: key, now: now, longest: retry.longestPause)
        guard let facts = index.facts(of: key) else {
            return remembered.map { .failure($0) } ?? .ask
        }
        guard let end = facts.freshUntil, end <= now || facts.fetchedAt > now else { return .hit }
        switch stale?.reuse ?? .mustRevalidate {
        case .fresh: return .hit
        case .staleWhileRevalidating: return remembered == nil ? .hitAndAsk : .hit
        case .mustRevalidate:
            // A download under way may have failed before.
            guard let failure = remembered ?? flights[key]?.failure else { return .ask }
            if failure.letsStaleServe, stale?.outlivesFailure == true { return .staleHit }
            return remembered.map { .failure($0) } ?? .ask
        }
    }

    /// Asks about an entry with nobody waiting, unless somebody does already or too much is held; then the
    /// next hit does.
    private mutating func revalidate(_ key: CacheKey, _ url: CacheURL) -> [Effect] {
        guard !flights.contains(key), !isDraining, holds.hasRoom(for: 1) else { return [] }
        let effects = join(key, url)
        hold(key, FetchOptions(priority: .background))
        return effects + startQueued()
    }

    // MARK: What may not be kept

    /// An entry was found or published; what may not be kept has its time set, or keeps the longer one it has.
    mutating func handOver(_ key: CacheKey, _ facts: EntryFacts) {
        guard facts.removeAt != nil || !noStoreGrace.isEmpty else { return }
        noStoreGrace[key] = facts.removeAt.map { max($0, noStoreGrace[key] ?? $0) }
    }

    /// Time has passed, or the clock was set back: those who waited for what may not be kept have had the
    /// time to open it. Who waits for other images as well has not heard of it: it has `time` seconds from
    /// then on. Pinned ones stay, as a person said so. So many at a time; whether there are more.
    mutating func handOversEnded(
        now: UnixTime, time: Int64, limit: Int = VictimSearch.slice
    ) -> (hasMore: Bool, effects: [Effect]) {
        // What is known of a directory that is not read yet may be another's.
        guard !noStoreGrace.isEmpty, !isUnread else { return (false, []) }
        var effects: [Effect] = []
        var count = 0
        let unheard = waiters.values.reduce(into: Set()) { $0.formUnion($1.noStoreGrace) }
        for (key, end) in noStoreGrace {
            if unheard.contains(key) {
                noStoreGrace[key] = now + time
                continue
            }
            guard let facts = index.facts(of: key) else {
                noStoreGrace[key] = nil
                continue
            }
            guard end <= now || facts.fetchedAt > now else { continue }
            // A newer file may be about to take the name, and one that appeared was not looked at yet.
            guard !facts.isPinned, flights[key]?.phase != .publishing, !dirtyNames.contains(key),
                !unremovable.contains(key)
            else { continue }
            guard count < limit else { return (true, effects) }
            count += 1
            noStoreGrace[key] = nil
            effects += withdraw(key)
        }
        return (false, effects)
    }

    /// Removes an entry that is there no longer by right.
    mutating func withdraw(_ key: CacheKey) -> [Effect] {
        guard let victim = condemn(key) else { return [] }
        counters.withdrawn = counters.withdrawn + Removal(entries: 1, bytes: victim.bytes)
        return [.unlink(victim)] + changed(key)
    }
}
