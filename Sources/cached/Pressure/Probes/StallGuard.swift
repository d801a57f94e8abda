/// Tells the kernel's true events from its false ones.
///
/// A trigger armed without privilege starts from zero, not from the total at that moment: the first
/// stall after arming, however short, looks like all the waiting since boot. So an event is believed
/// only if the total really grew by the threshold, counted from arming or from the last event believed.
struct StallGuard: Sendable, Hashable {
    let trigger: PressureTrigger
    /// The total that growth is counted from.
    private(set) var base: Duration

    /// Starts from the totals read just before arming.
    init(_ trigger: PressureTrigger, _ totals: StallTotals) {
        self.trigger = trigger
        base = totals[trigger.kind]
    }

    /// The kernel signalled, and these are the totals now; true if it is to be believed.
    mutating func eventArrived(_ totals: StallTotals) -> Bool {
        let total = totals[trigger.kind]
        let isTrue = total - base >= trigger.stall
        // A total that fell is that of another group under the same name.
        if isTrue || total < base { base = total }
        return isTrue
    }
}
