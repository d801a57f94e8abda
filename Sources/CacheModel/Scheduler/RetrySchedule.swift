internal import CacheKey

/// Downloads that pause before the next attempt, the earliest first. A binary heap.
///
/// If a download ends during its pause, or pauses again, its old place stays in the heap until its
/// time comes, and is then skipped.
struct RetrySchedule {
    struct Place {
        let instant: ContinuousClock.Instant
        let key: CacheKey
        let id: FlightID
    }

    private var heap: [Place] = []

    /// The end of the next pause.
    var earliest: ContinuousClock.Instant? { heap.first?.instant }

    /// Adds a download. Returns whether its pause ends before all others.
    mutating func add(_ key: CacheKey, _ id: FlightID, at instant: ContinuousClock.Instant) -> Bool
    {
        var child = heap.count
        heap.append(Place(instant: instant, key: key, id: id))
        while child > 0, heap[(child - 1) / 2].instant > instant {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
        return child == 0
    }

    /// Removes the next download whose pause has ended.
    mutating func takeDue(now: ContinuousClock.Instant) -> Place? {
        guard let first = heap.first, first.instant <= now else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        return first
    }

    /// Restores the heap after its root was replaced.
    private mutating func sink() {
        var parent = 0
        while true {
            let children = (parent * 2 + 1)..<min(parent * 2 + 3, max(heap.count, parent * 2 + 1))
            guard let least = children.min(by: { heap[$0].instant < heap[$1].instant }),
                heap[least].instant < heap[parent].instant
            else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
