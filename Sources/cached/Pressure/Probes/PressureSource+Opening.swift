import CacheWire
import Glibc

extension PressureSource {
    /// Opens the source. The first trigger has to work; the reasons why others do not, or not as they are set, are added
    /// to `objections`.
    func open(
        _ triggers: [PressureTrigger], now: ContinuousClock.Instant, objections: inout [String]
    ) throws(PressureFailure) -> [any PressureProbe] {
        switch self {
        case .off: return []
        case .file(let path): return try Self.arm(triggers, path, &objections)
        case .sampled(let path): return [try SampleProbe(path: path, triggers, now: now)]
        case .assigned(let path, let greeting):
            switch try Self.kind(of: path) {
            case S_IFIFO: return [try ByteProbe(fifo: path, greeting: greeting)]
            case S_IFSOCK: return [try ByteProbe(socket: path, greeting: greeting)]
            case S_IFREG:
                let triggers = try Self.assigned(triggers, greeting)
                return try Self.arm(triggers, path, &objections)
            default: throw PressureFailure("\(path) is not a file, a FIFO or a socket")
            }
        }
    }

    private static func arm(
        _ triggers: [PressureTrigger], _ path: String, _ objections: inout [String]
    ) throws(PressureFailure) -> [any PressureProbe] {
        guard let first = triggers.first else { return [] }
        var probes: [any PressureProbe] = [try arm(first, path, &objections)]
        for trigger in triggers.dropFirst() {
            do throws(PressureFailure) {
                probes.append(try arm(trigger, path, &objections))
            } catch {
                objections.append("cannot watch the \(trigger.level.rawValue) level: \(error)")
            }
        }
        return probes
    }

    /// Arms a trigger, with a longer window if the kernel grants only that.
    private static func arm(
        _ trigger: PressureTrigger, _ path: String, _ objections: inout [String]
    ) throws(PressureFailure) -> StallProbe {
        do throws(PressureFailure) {
            return try StallProbe(path: path, trigger)
        } catch {
            guard let longer = trigger.unprivileged else { throw error }
            let probe = try StallProbe(path: path, longer)
            objections.append(
                """
                the \(trigger.level.rawValue) level is watched in windows of \(longer.window), not \(trigger.window): \
                other than multiples of 2 s need CAP_SYS_RESOURCE
                """)
            return probe
        }
    }

    /// The triggers for a file that the service manager names. The line that it wants written is the trigger of a
    /// warning, which is the only level that a service manager knows. The other triggers are our own.
    private static func assigned(
        _ triggers: [PressureTrigger], _ greeting: [UInt8]
    ) throws(PressureFailure) -> [PressureTrigger] {
        guard !greeting.isEmpty else { return triggers }
        guard let warning = PressureTrigger(line: greeting, level: .warning) else {
            throw PressureFailure(
                "MEMORY_PRESSURE_WRITE is not a trigger like \"some 200000 2000000\"")
        }
        return [warning] + triggers.filter { $0.level != .warning }
    }

    /// The file type bits of a path. stat(2).
    private static func kind(of path: String) throws(PressureFailure) -> mode_t {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .call("stat", path) }
        return status.st_mode & S_IFMT
    }
}
