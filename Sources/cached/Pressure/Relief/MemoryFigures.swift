import CacheWire

/// The memory of the machine and of the daemon's control group, in bytes. 0 means unknown.
struct MemoryFigures: Sendable, Hashable {
    /// The memory of the machine. proc_meminfo(5), `MemTotal`.
    var machine: Int64 = 0
    /// The memory that programs can get without swapping. proc_meminfo(5), `MemAvailable`.
    var available: Int64 = 0
    /// The memory that the group holds, without what the kernel can drop.
    var groupUsed: Int64 = 0
    /// The limit of the group; 0 if it has none below the memory of the machine.
    var groupLimit: Int64 = 0

    /// The level at which memory is really short; `nil` if it is not.
    ///
    /// `available` below 5 % of the machine is a warning, and below 2.5 % critical. So is a group above 90 % of its
    /// limit.
    var shortage: PressureLevel? {
        if groupLimit > 0, groupUsed > groupLimit / 10 * 9 { return .critical }
        guard machine > 0 else { return nil }
        if available < machine / 40 { return .critical }
        return available < machine / 20 ? .warning : nil
    }
}

extension MemoryFigures {
    /// - Parameters:
    ///   - meminfo: the text of `/proc/meminfo`, or `nil` if it cannot be read.
    ///   - group: the memory of the daemon's control group, if it has a limit.
    init(meminfo: String?, group: GroupMemory?) {
        let lines = meminfo?.split(separator: "\n") ?? []
        let kilobytes = { (name: String) -> Int64? in
            let words = lines.first { $0.hasPrefix("\(name):") }?.split(separator: " ")
            return words?.dropFirst().first.flatMap { Int64($0) }
        }
        guard let total = kilobytes("MemTotal"), let available = kilobytes("MemAvailable") else {
            self.init(groupUsed: group?.used ?? 0, groupLimit: group?.limit ?? 0)
            return
        }
        self.init(machine: total << 10, available: available << 10)
        if let group, group.limit < machine {
            (groupUsed, groupLimit) = (group.used, group.limit)
        }
    }
}
