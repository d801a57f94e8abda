import CacheWire
import Glibc

/// A trigger the kernel signals, armed on a descriptor of its own: one may hold one trigger only.
/// Documentation/accounting/psi.rst.
final class StallProbe: PressureProbe {
    private let armed: ProbeDescriptor
    private let figures: ProbeDescriptor
    private let trigger: PressureTrigger
    private var stalls: StallGuard

    /// Arms the trigger; it is gone when the descriptor is closed.
    init(path: String, _ trigger: PressureTrigger) throws(PressureFailure) {
        self.trigger = trigger
        figures = try ProbeDescriptor(path, O_RDONLY)
        armed = try ProbeDescriptor(path, O_RDWR)
        guard try !armed.hasBytes() else {
            throw PressureFailure("\(path) is an ordinary file, and no pressure file of the kernel")
        }
        stalls = StallGuard(trigger, try figures.totals())
        try armed.write(trigger.line)
    }

    var descriptor: Int32 { armed.number }
    let events = Int16(POLLPRI)
    var nextLook: ContinuousClock.Instant? { nil }

    /// While it lasts the kernel signals once a window; a quarter more, because it looks ten times in one.
    var standing: Duration? { trigger.window * 5 / 4 }

    func look(_ events: Int16, now: ContinuousClock.Instant) throws(PressureFailure)
        -> PressureLevel?
    {
        guard events & Int16(POLLERR | POLLNVAL) == 0 else {
            throw PressureFailure("the control group is gone")
        }
        return stalls.eventArrived(try figures.totals()) ? trigger.level : nil
    }
}
