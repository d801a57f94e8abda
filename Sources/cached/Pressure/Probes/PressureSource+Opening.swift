import CacheWire
import Glibc

extension PressureSource {
    /// Opens what is to be watched. Of several triggers the first has to work; what is wrong with the
    /// others goes to `objections`.
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
            default: throw PressureFailure("\(path) is neither a file nor a FIFO nor a socket")
            }
        }
    }

    private static func arm(
        _ triggers: [PressureTrigger], _ path: String, _ objections: inout [String]
    ) throws(PressureFailure) -> [any PressureProbe] {
        guard let first = triggers.first else { return [] }
        var probes: [any PressureProbe] = [try StallProbe(path: path, first)]
        for trigger in triggers.dropFirst() {
            do throws(PressureFailure) {
                probes.append(try StallProbe(path: path, trigger))
            } catch {
                objections.append("no \(trigger.level.rawValue) level: \(error)")
            }
        }
        return probes
    }

    /// The triggers for a file the service manager names: what it wants written makes the warning,
    /// which it knows alone; our own thresholds make the rest.
    private static func assigned(
        _ triggers: [PressureTrigger], _ greeting: [UInt8]
    ) throws(PressureFailure) -> [PressureTrigger] {
        guard !greeting.isEmpty else { return triggers }
        guard let warning = PressureTrigger(line: greeting, level: .warning) else {
            throw PressureFailure(
                "MEMORY_PRESSURE_WRITE is no trigger like \"some 200000 2000000\"")
        }
        return [warning] + triggers.filter { $0.level != .warning }
    }

    /// The type bits of what lies under a path. stat(2).
    private static func kind(of path: String) throws(PressureFailure) -> mode_t {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .call("stat", path) }
        return status.st_mode & S_IFMT
    }
}
