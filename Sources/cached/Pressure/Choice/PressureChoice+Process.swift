import CacheCore

extension PressureChoice {
    /// Chooses for this process, from its environment and what the kernel says of it.
    static func ofProcess(_ environment: [String: String]) -> PressureChoice {
        PressureChoice(
            environment: environment, groups: ProcFile.text(of: "/proc/self/cgroup"),
            mounts: ProcFile.text(of: "/proc/self/mountinfo"))
    }
}
