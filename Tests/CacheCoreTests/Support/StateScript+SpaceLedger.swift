import CacheKey

@testable import CacheCore

/// Room: what downloads ask for, and what goes for them.
extension StateScript {
    /// The download of an image asks for room before it writes.
    func asks(_ image: String, for needed: Int64, of length: Int64? = nil) -> [String] {
        let (answer, effects) = state.roomAsked(
            key(image), flight(image), needed: needed, length: length)
        state.checkInvariants()
        return words(answer) + effects.map(words)
    }

    /// A download of an image begins and asks for room for all of it.
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
        return event { $0.unlinked(victims) }
    }

    /// Some files of victims can't be removed.
    func keeps(_ images: String..., othersMayGo: Bool = true) -> [String] {
        let victims = images.compactMap { doomed.removeValue(forKey: $0) }
        precondition(victims.count == images.count, "not all of \(images) are victims")
        return event { $0.stuck(victims, othersMayGo: othersMayGo) }
    }

    /// A piece of an eviction: the victims, then what else was decided.
    func evicts(_ eviction: Eviction, limit: Int = .max) -> [String] {
        let (victims, _, effects) = state.evictionSlice(eviction, limit: limit)
        state.checkInvariants()
        return victims.map(doom) + effects.map(words)
    }

    /// The limits change, as at a reload.
    func limits(_ change: (inout Budget) -> Void) -> [String] {
        event { state in
            var budget = state.budget
            change(&budget)
            return state.limitsSet(budget)
        }
    }

    func pins(_ image: String, _ isPinned: Bool = true) -> [String] {
        event { $0.pinned(key(image), isPinned) }
    }

    /// Whether what is published now under an image's name will be pinned.
    func pinsOnArrival(_ image: String) -> Bool { state.isPinned(key(image)) }

    /// Notes a victim, to be lost later; its name.
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
            return ["refused: \(failure.kind)"]
        case .wait: return ["wait"]
        case .again: return ["wait in line"]
        }
    }
}
