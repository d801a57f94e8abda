import CLinux
import CacheWire
import Glibc
import Logging

/// The loop of the monitor's thread: waits for the probes, asks ``PressureReactions`` what to do, and does it.
final class PressureLoop: @unchecked Sendable {
    // Unchecked: one thread creates it, passes it to the monitor's thread and never uses it again.

    private let monitor: PressureMonitor
    private var probes: [any PressureProbe] = []
    /// The sources that have not been tried yet, best first.
    private var sources: ArraySlice<PressureSource>
    /// The author of the reports of the source that is watched.
    private var cause = PressureCause.daemon
    private var wakeAt: ContinuousClock.Instant?

    init(_ monitor: PressureMonitor) {
        self.monitor = monitor
        sources = monitor.choice.sources[...]
    }

    /// Opens the best source.
    func openFirst() {
        for objection in monitor.choice.objections { logSkipped(objection) }
        openNext()
    }

    /// Waits and reacts until the monitor stops.
    func run() {
        while true {
            let ready = wait()
            if monitor.update({ $0.isStopping }) { return }
            handleRequests()
            react(to: levels(ready))
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
                    [.warning, .critical], now: .now, objections: &objections)
                for objection in objections {
                    monitor.logger.notice(
                        "memory pressure is not watched as it is set",
                        metadata: ["reason": "\(objection)"])
                }
                name = source.description
                // A stall in a pressure file says no more if the service manager names the file.
                cause = probes.first is ByteProbe ? .serviceManager : .daemon
            } catch {
                logSkipped("\(source): \(error)")
            }
        }
        monitor.update { $0.source = name }
        monitor.logger.info("watching memory pressure", metadata: ["source": "\(name)"])
    }

    private func logSkipped(_ reason: String) {
        monitor.logger.info(
            "memory pressure source skipped", metadata: ["reason": "\(reason)"])
    }

    // MARK: Waiting

    /// Sleeps until a probe or a request wakes it, or until the timeout. Returns the events of each probe. poll(2).
    private func wait() -> [Int16] {
        var descriptors = probes.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
        descriptors.append(pollfd(fd: monitor.wakeup, events: Int16(POLLIN), revents: 0))
        let count = poll(&descriptors, nfds_t(descriptors.count), timeout)
        var wakeups: eventfd_t = 0
        eventfd_read(monitor.wakeup, &wakeups)
        return descriptors.dropLast().map { count > 0 ? $0.revents : 0 }
    }

    /// Milliseconds until there is work to do, rounded up; -1 if there is none.
    private var timeout: Int32 {
        let times = probes.compactMap(\.nextRead) + (wakeAt.map { [$0] } ?? [])
        guard let next = times.min() else { return -1 }
        let left = max(next - .now, .zero)
        return Int32(clamping: (left.microseconds + 999) / 1000)
    }

    // MARK: Reacting

    /// A level that a probe reports, and how long the report is valid.
    private typealias Report = (level: PressureLevel, validity: Duration?)

    /// Reads the probes that have events or are due. If one probe fails, the next source is opened.
    private func levels(_ ready: [Int16]) -> [Report] {
        var reports: [Report] = []
        let now = ContinuousClock.now
        for (probe, events) in zip(probes, ready) {
            let isDue = probe.nextRead.map { $0 <= now } ?? false
            guard events != 0 || isDue else { continue }
            do throws(PressureFailure) {
                guard let level = try probe.read(events, now: now) else { continue }
                reports.append((level, probe.validity))
            } catch {
                logSkipped("\(monitor.source): \(error)")
                openNext()
                break
            }
        }
        return reports
    }

    /// Reacts to the worst report first, so that a weaker reaction does not come before it.
    private func react(to reports: [Report]) {
        let source = (cause, monitor.source)
        for (level, validity) in reports.sorted(by: { $0.level > $1.level }) {
            monitor.rose(level, validFor: validity)
            perform(source) { $0.pressureRose(level, validFor: validity, now: .now) }
        }
    }

    private func handleRequests() {
        let requests = monitor.update { shared in
            defer { shared.requests = [] }
            return shared.requests
        }
        for request in requests {
            monitor.rose(request.level, validFor: nil)
            perform((request.cause, request.source)) { $0.requested(request.level, now: .now) }
        }
    }

    private func passTime() {
        guard let time = wakeAt, time <= .now else { return }
        wakeAt = nil
        perform((cause, monitor.source)) { $0.timePassed(now: .now) }
    }

    /// Runs an event of the reactions under the lock, then performs the actions without it.
    private func perform(
        _ origin: (cause: PressureCause, source: String),
        _ event: (inout PressureReactions) -> [PressureReactions.Action]
    ) {
        for action in monitor.update({ event(&$0.reactions) }) {
            switch action {
            case .react(let level):
                monitor.onPressure(
                    PressureReport(level: level, cause: origin.cause, source: origin.source))
            case .wakeAt(let time): wakeAt = time
            }
        }
    }
}
