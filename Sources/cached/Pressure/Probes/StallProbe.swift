import CacheWire
import Glibc

/// A trigger of the kernel, on a descriptor of its own, because a descriptor can hold only one trigger.
/// Documentation/accounting/psi.rst.
final class StallProbe: PressureProbe {
    private let armed: ProbeDescriptor
    private let file: ProbeDescriptor
    private let trigger: PressureTrigger
    private var stalls: StallGuard

    /// Arms the trigger. The kernel removes it when the descriptor is closed.
    init(path: String, _ trigger: PressureTrigger) throws(PressureFailure) {
        self.trigger = trigger
        file = try ProbeDescriptor(path, O_RDONLY)
        armed = try ProbeDescriptor(path, O_RDWR)
        guard try !armed.hasBytes() else {
            throw PressureFailure("\(path) is an ordinary file, not a pressure file of the kernel")
        }
        stalls = StallGuard(trigger, try file.totals())
        try armed.write(trigger.line)
    }

    var descriptor: Int32 { armed.number }
    let events = Int16(POLLPRI)
    var nextRead: ContinuousClock.Instant? { nil }

    /// While the pressure lasts, the kernel signals once in each window. It checks ten times in a window, so a
    /// report is valid for a quarter of a window longer.
    var validity: Duration? { trigger.window * 5 / 4 }

    func read(_ events: Int16, now: ContinuousClock.Instant) throws(PressureFailure)
        -> PressureLevel?
    {
        guard events & Int16(POLLERR | POLLNVAL) == 0 else {
            throw PressureFailure("the control group is gone")
        }
        return stalls.eventArrived(try file.totals()) ? trigger.level : nil
    }
}
