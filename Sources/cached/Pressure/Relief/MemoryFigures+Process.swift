import CacheCore

extension MemoryFigures {
    /// Measures the memory of the machine and of this process's control group.
    static func now() -> MemoryFigures {
        let group = GroupMemory(
            groups: ProcFile.text(of: "/proc/self/cgroup") ?? "",
            mounts: ProcFile.text(of: "/proc/self/mountinfo") ?? "", text: ProcFile.text(of:))
        return MemoryFigures(meminfo: ProcFile.text(of: "/proc/meminfo"), group: group)
    }
}
