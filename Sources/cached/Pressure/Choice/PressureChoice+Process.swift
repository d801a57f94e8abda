import CacheCore

extension PressureChoice {
    /// Chooses for this process, from its environment and from what the kernel says about it.
    static func ofProcess(_ environment: [String: String]) -> PressureChoice {
        PressureChoice(
            environment: environment, groups: ProcFile.text(of: "/proc/self/cgroup"),
            mounts: ProcFile.text(of: "/proc/self/mountinfo"))
    }
}
