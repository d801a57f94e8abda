/// A source of memory pressure: how the daemon learns that memory is short.
enum PressureSource: Sendable, Hashable {
    /// None, because the environment turns it off.
    case off
    /// A pressure file, a FIFO or a socket that the service manager names, and the bytes to write into it.
    /// docs/PRESSURE.md of systemd.
    case assigned(path: String, greeting: [UInt8])
    /// A pressure file with a trigger of the kernel: that of the daemon's control group, or the machine's.
    case file(path: String)
    /// A pressure file that the daemon reads once in each window, because the kernel grants it no trigger.
    case sampled(path: String)

    /// The pressure file of the whole machine.
    static let machine = "/proc/pressure/memory"
}

extension PressureSource: CustomStringConvertible {
    /// The source as the log and `Stats` show it.
    var description: String {
        switch self {
        case .off: "off"
        case .assigned(let path, _): "MEMORY_PRESSURE_WATCH \(path)"
        case .file(let path): path
        case .sampled(let path): "\(path), read at intervals"
        }
    }
}

extension PressureSource {
    /// The path that is opened; `nil` if there is none.
    var path: String? {
        switch self {
        case .off: nil
        case .assigned(let path, _), .file(let path), .sampled(let path): path
        }
    }
}
