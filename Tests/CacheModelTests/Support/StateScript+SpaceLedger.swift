import CacheKey
import CacheValues

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Space: the requests of downloads, and the victims evicted for them.
extension StateScript {
    /// The download of an image asks for space before it writes.
    func asks(_ image: String, for needed: Int64, of length: Int64? = nil) -> [String] {
        let id = flight(image)
        var answer: SpaceAnswer?
        let effects = event {
            answer = $0.fetching.spaceRequested(key(image), id, needed: needed, length: length, &$1)
        }
        return (answer.map(words) ?? []) + effects
    }

    /// A download of an image begins and asks for space for the whole image.
    func begins(_ image: String, _ length: Int64) -> [String] {
        _ = want(image, by: nil)
        return asks(image, for: 1, of: length)
    }

    /// The files of victims are gone.
    func loses(_ images: String...) -> [String] {
        let victims = images.map { image in
            guard let victim = doomed.removeValue(forKey: image) else {
                preconditionFailure("\(image) is no victim")
            }
            return victim
        }
        return event { $0.unlinked(victims, &$1) }
    }

    /// Some files of victims can't be removed.
    func keeps(_ images: String..., othersCould: Bool = true) -> [String] {
        let victims = images.compactMap { doomed.removeValue(forKey: $0) }
        precondition(victims.count == images.count, "not all of \(images) are victims")
        return event { $0.unlinkFailed(victims, othersCould: othersCould, &$1) }
    }

    /// Runs a slice of an eviction. Returns the victims, then the other decisions.
    func evicts(
        _ goal: EvictionGoal, isOwn: Bool = false, limit: Int = .max
    ) -> [String] {
        var victims: [Victim] = []
        let effects = event {
            victims = $0.evictionSlice(goal, isOwn: isOwn, limit: limit, &$1).victims
        }
        return victims.map(doom) + effects
    }

    /// The disk is full for the download of an image. Returns the victims.
    func diskFills(_ image: String, _ bytes: Int64) -> [String] {
        var victims: [Victim] = []
        _ = event { victims = $0.fetching.diskFilled(key(image), bytes, &$1) }
        return victims.map(doom)
    }

    /// The limits change, as at a reload.
    func limits(_ change: (inout Budget) -> Void) -> [String] {
        event { state, effects in
            var budget = state.disk.space.budget
            change(&budget)
            state.limitsSet(budget, &effects)
        }
    }

    func pins(_ image: String, _ isPinned: Bool = true) -> [String] {
        event { $0.pinned(key(image), isPinned, &$1) }
    }

    /// Whether a version of an image published now is pinned.
    func pinsOnArrival(_ image: String) -> Bool { state.fetching.isPinned(key(image)) }

    /// Records a victim, whose file is removed later. Returns its name.
    func doom(_ victim: Victim) -> String {
        let name = name(victim)
        doomed[name] = victim
        return name
    }

    private func words(_ answer: SpaceAnswer) -> [String] {
        words(answer.grant) + answer.victims.map { "without \(doom($0))" }
    }

    private func words(_ grant: SpaceGrant) -> [String] {
        switch grant {
        case .granted(let bytes): return ["granted \(bytes)"]
        case .refused(let failure):
            refusal = failure
            return [failure == .waitsForSpace ? "wait" : "refused: \(failure.kind)"]
        case .evicting: return ["evicting"]
        }
    }
}
