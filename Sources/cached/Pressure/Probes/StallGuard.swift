/// Ignores false events of the kernel.
///
/// A trigger that is armed without privilege counts from zero instead of the total at that moment. So the first stall
/// after that, however short, looks like all the waiting since boot. An event counts only if the total has
/// grown by the threshold since the trigger was armed, or since the last event that counted.
struct StallGuard: Sendable, Hashable {
    let trigger: PressureTrigger
    /// The total from which growth is counted.
    private(set) var base: Duration

    /// Starts from the totals that were read just before the trigger was armed.
    init(_ trigger: PressureTrigger, _ totals: StallTotals) {
        self.trigger = trigger
        base = totals[trigger.kind]
    }

    /// The kernel has signalled an event, and these are the totals now. Returns whether the event counts.
    mutating func eventArrived(_ totals: StallTotals) -> Bool {
        let total = totals[trigger.kind]
        let isTrue = total - base >= trigger.stall
        // A total that is smaller than before belongs to another group with the same name.
        if isTrue || total < base { base = total }
        return isTrue
    }
}
