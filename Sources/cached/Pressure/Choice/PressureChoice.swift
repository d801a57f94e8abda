import FoundationEssentials

/// The sources to try, best first, and what is wrong with those that can't even be tried.
///
/// The first that opens is watched. The own control group comes before the machine: its pressure is
/// what this process can relieve, and the machine's figure is a mean over processors.
struct PressureChoice: Sendable, Hashable {
    var sources: [PressureSource] = []
    /// Sentences for the log.
    var objections: [String] = []

    /// Chooses from facts only.
    ///
    /// - Parameters:
    ///   - groups: the text of `/proc/self/cgroup`, or `nil` if it can't be read.
    ///   - mounts: the text of `/proc/self/mountinfo`, or `nil` if it can't be read.
    init(environment: [String: String], groups: String?, mounts: String?) {
        let isOff = takeAssigned(environment)
        guard !isOff else { return }
        let group = groups.flatMap { groups in
            mounts.flatMap { ControlGroup.directory(groups: groups, mounts: $0) }
        }
        if group == nil { objections.append("the process is in no control group of version 2") }
        let files = [group.map { "\($0)/memory.pressure" }, PressureSource.machine].compactMap(
            \.self)
        sources += files.map { .file(path: $0) } + files.map { .sampled(path: $0) }
    }

    /// Reads `MEMORY_PRESSURE_WATCH` and `MEMORY_PRESSURE_WRITE`; true if they say not to watch at all.
    private mutating func takeAssigned(_ environment: [String: String]) -> Bool {
        guard let path = environment["MEMORY_PRESSURE_WATCH"], !path.isEmpty else { return false }
        guard path != "/dev/null" else {
            sources = [.off]
            return true
        }
        guard path.hasPrefix("/") else {
            objections.append("MEMORY_PRESSURE_WATCH is \"\(path)\", not an absolute path")
            return false
        }
        let text = environment["MEMORY_PRESSURE_WRITE"] ?? ""
        guard let greeting = Data(base64Encoded: text), greeting.count <= Self.maximumGreeting
        else {
            objections.append(
                "MEMORY_PRESSURE_WRITE is not base64 of at most \(Self.maximumGreeting) bytes")
            return false
        }
        sources = [.assigned(path: path, greeting: Array(greeting))]
        return false
    }

    /// What goes into a FIFO at once and in one piece, in bytes: `PIPE_BUF`. pipe(7).
    private static let maximumGreeting = 4096
}
