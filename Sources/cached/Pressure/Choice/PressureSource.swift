/// Where the daemon learns that memory is short.
enum PressureSource: Sendable, Hashable {
    /// Nowhere: the environment says so.
    case off
    /// What the service manager names: a pressure file, a FIFO or a socket, and what to write into it.
    /// docs/PRESSURE.md of systemd.
    case assigned(path: String, greeting: [UInt8])
    /// A pressure file the kernel signals on: that of the own control group, or the machine's.
    case file(path: String)
    /// A pressure file that may only be read, and so is, once a window.
    case sampled(path: String)

    /// The figures of the whole machine.
    static let machine = "/proc/pressure/memory"
}

extension PressureSource: CustomStringConvertible {
    /// As the log and `Stats` show it.
    var description: String {
        switch self {
        case .off: "off"
        case .assigned(let path, _): "MEMORY_PRESSURE_WATCH \(path)"
        case .file(let path): path
        case .sampled(let path): "\(path), read at intervals"
        }
    }
}
