/// The memory of a control group with a limit, in bytes.
///
/// Documentation/admin-guide/cgroup-v2.rst, "Memory"; Documentation/admin-guide/cgroup-v1/memory.rst.
struct GroupMemory: Sendable, Hashable {
    /// The memory that the group holds, without pages of files and other parts that the kernel can drop.
    var used: Int64
    var limit: Int64

    init(used: Int64, limit: Int64) {
        (self.used, self.limit) = (used, limit)
    }

    /// The names of the files, and of the parts in `memory.stat` that can be dropped.
    private struct Names {
        let hierarchy: ControlGroup.Hierarchy
        let usage: String
        let limits: [String]
        let droppable: [String]

        static let all = [
            Names(
                hierarchy: .unified, usage: "memory.current",
                limits: ["memory.max", "memory.high"],
                droppable: ["inactive_file", "active_file", "slab_reclaimable"]),
            Names(
                hierarchy: .memory, usage: "memory.usage_in_bytes",
                limits: ["memory.limit_in_bytes"],
                droppable: ["total_inactive_file", "total_active_file"]),
        ]
    }

    /// Finds the group of this process. `nil` if it has no group with a limit.
    ///
    /// - Parameters:
    ///   - groups: the text of `/proc/self/cgroup`.
    ///   - mounts: the text of `/proc/self/mountinfo`.
    ///   - text: reads a file; `nil` if it cannot be read.
    init?(groups: String, mounts: String, text: (String) -> String?) {
        for names in Names.all {
            let directory = ControlGroup.directory(
                of: names.hierarchy, groups: groups, mounts: mounts)
            guard let directory, let memory = GroupMemory(directory, names, text) else { continue }
            self = memory
            return
        }
        return nil
    }

    private init?(_ directory: String, _ names: Names, _ text: (String) -> String?) {
        func number(_ name: String) -> Int64? {
            text("\(directory)/\(name)").flatMap { Int64($0.filter(\.isNumber)) }
        }
        guard let usage = number(names.usage),
            let limit = names.limits.compactMap({ number($0) }).min()
        else { return nil }
        let parts = (text("\(directory)/memory.stat") ?? "").split(separator: "\n")
            .map { $0.split(separator: " ") }
            .filter { $0.count == 2 && names.droppable.contains(String($0[0])) }
        self.init(
            used: max(usage - parts.compactMap { Int64($0[1]) }.reduce(0, +), 0), limit: limit)
    }
}
