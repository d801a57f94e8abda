import CLinux
import CacheWire
import Glibc
import Logging

/// What the monitor's thread does: waits for its probes, asks ``PressureReactions``, reacts.
final class PressureLoop: @unchecked Sendable {
    // Unchecked: made by one thread, which hands it to the monitor's and does not touch it again.

    private let monitor: PressureMonitor
    private var probes: [any PressureProbe] = []
    /// The sources not tried yet, best first.
    private var sources: ArraySlice<PressureSource>
    private var wakeAt: ContinuousClock.Instant?

    init(_ monitor: PressureMonitor) {
        self.monitor = monitor
        sources = monitor.choice.sources[...]
    }

    /// Opens the best source there is.
    func openFirst() {
        for objection in monitor.choice.objections { passOver(objection) }
        openNext()
    }

    /// Waits and reacts until the monitor stops.
    func run() {
        while true {
            let ready = wait()
            if monitor.update({ $0.isStopping }) { return }
            answerRequests()
            answer(levels(ready))
            passTime()
        }
    }

    // MARK: Sources

    private func openNext() {
        probes = []
        var name = "none"
        while name == "none", let source = sources.popFirst() {
            do throws(PressureFailure) {
                var objections: [String] = []
                probes = try source.open(
                    monitor.settings.triggers, now: .now, objections: &objections)
                objections.forEach(passOver)
                name = source.description
            } catch {
                passOver("\(source): \(error)")
            }
        }
        monitor.update { $0.source = name }
        monitor.logger.info("watching memory pressure", metadata: ["source": "\(name)"])
    }

    private func passOver(_ reason: String) {
        monitor.logger.info(
            "a source of memory pressure is passed over", metadata: ["reason": "\(reason)"])
    }

    // MARK: Waiting

    /// Sleeps until something happens; returns what happened at each probe. poll(2).
    private func wait() -> [Int16] {
        var descriptors = probes.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
        descriptors.append(pollfd(fd: monitor.wakeup, events: Int16(POLLIN), revents: 0))
        let count = poll(&descriptors, nfds_t(descriptors.count), timeout)
        var wakeups: eventfd_t = 0
        eventfd_read(monitor.wakeup, &wakeups)
        return descriptors.dropLast().map { count > 0 ? $0.revents : 0 }
    }

    /// Milliseconds to the next time something has to be done, rounded up; -1 for never.
    private var timeout: Int32 {
        let times = probes.compactMap(\.nextLook) + (wakeAt.map { [$0] } ?? [])
        guard let next = times.min() else { return -1 }
        let left = max(next - .now, .zero)
        return Int32(clamping: (left.microseconds + 999) / 1000)
    }

    // MARK: Answering

    /// A level that a probe reports, and how long that stands.
    private typealias Report = (level: PressureLevel, standing: Duration?)

    /// Looks at the probes where something happened. One that is lost ends its whole source.
    private func levels(_ ready: [Int16]) -> [Report] {
        var reports: [Report] = []
        let now = ContinuousClock.now
        for (probe, events) in zip(probes, ready) {
            let isDue = probe.nextLook.map { $0 <= now } ?? false
            guard events != 0 || isDue else { continue }
            do throws(PressureFailure) {
                guard let level = try probe.look(events, now: now) else { continue }
                reports.append((level, probe.standing))
            } catch {
                passOver("\(monitor.source): \(error)")
                openNext()
                break
            }
        }
        return reports
    }

    /// The worst first: what it answers does not start with less.
    private func answer(_ reports: [Report]) {
        let source = monitor.source
        for (level, standing) in reports.sorted(by: { $0.level > $1.level }) {
            perform(source) { $0.pressureRose(level, standingFor: standing, now: .now) }
        }
    }

    private func answerRequests() {
        let requests = monitor.update { shared in
            defer { shared.requests = [] }
            return shared.requests
        }
        for request in requests {
            perform(request.source) { $0.requested(request.level, now: .now) }
        }
    }

    private func passTime() {
        guard let time = wakeAt, time <= .now else { return }
        wakeAt = nil
        perform(monitor.source) { $0.timePassed(now: .now) }
    }

    /// Runs an event of the reactions, then does what it decided, outside of the lock.
    private func perform(
        _ source: String, _ event: (inout PressureReactions) -> [PressureReactions.Action]
    ) {
        for action in monitor.update({ event(&$0.reactions) }) {
            switch action {
            case .react(let level): monitor.onPressure(level, source)
            case .wakeAt(let time): wakeAt = time
            }
        }
    }
}
