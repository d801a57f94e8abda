/// What happens at a time, the earliest first. A binary heap.
///
/// Nothing is taken out before its time. What no longer holds then is skipped by whoever takes it: a pause of a download
/// that has ended, for example.
struct Schedule<Event: Sendable>: Sendable {
    struct Place: Sendable {
        let instant: ContinuousClock.Instant
        let event: Event
    }

    private var heap: [Place] = []

    /// The time of the next event.
    var earliest: ContinuousClock.Instant? { heap.first?.instant }

    /// Adds an event. Returns whether it comes before all others.
    mutating func add(_ event: Event, at instant: ContinuousClock.Instant) -> Bool {
        var child = heap.count
        heap.append(Place(instant: instant, event: event))
        while child > 0, heap[(child - 1) / 2].instant > instant {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
        return child == 0
    }

    /// Removes the next event whose time has come.
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
