import CacheCore
import FoundationEssentials

/// The sources of memory pressure to try, best first, and the reasons why others cannot be tried.
///
/// The daemon watches the first source that opens. Its own control group comes before the machine, because the
/// daemon can relieve the pressure of its group, and the machine's value is a mean over all processors.
struct PressureChoice: Sendable, Hashable {
    var sources: [PressureSource] = []
    /// The reasons, as sentences for the log.
    var objections: [String] = []

    /// Chooses for this process, from its environment and from what the kernel says about it.
    static func ofProcess(_ environment: [String: String]) -> PressureChoice {
        PressureChoice(
            environment: environment, groups: ProcFile.text(of: "/proc/self/cgroup"),
            mounts: ProcFile.text(of: "/proc/self/mountinfo"))
    }

    /// Chooses from these texts alone.
    ///
    /// - Parameters:
    ///   - groups: the text of `/proc/self/cgroup`, or `nil` if it cannot be read.
    ///   - mounts: the text of `/proc/self/mountinfo`, or `nil` if it cannot be read.
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

    /// Reads `MEMORY_PRESSURE_WATCH` and `MEMORY_PRESSURE_WRITE`. Returns true if they turn the watch off.
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

    /// The most bytes that can be written to a FIFO in one piece: `PIPE_BUF`. pipe(7).
    private static let maximumGreeting = 4096
}
