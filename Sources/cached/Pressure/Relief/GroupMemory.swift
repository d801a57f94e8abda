/// The memory of a control group with a limit, in bytes. Documentation/admin-guide/cgroup-v2.rst, "Memory".
struct GroupMemory: Sendable, Hashable {
    /// The memory that the group holds, without pages of files and other parts that the kernel can drop.
    var used: Int64
    var limit: Int64

    init(used: Int64, limit: Int64) {
        (self.used, self.limit) = (used, limit)
    }

    /// Reads the files of this process's group. `nil` if it has no group with a limit.
    ///
    /// - Parameters:
    ///   - groups: the text of `/proc/self/cgroup`.
    ///   - mounts: the text of `/proc/self/mountinfo`.
    ///   - text: reads a file; `nil` if it cannot be read.
    init?(groups: String, mounts: String, text: (String) -> String?) {
        guard let directory = ControlGroup.directory(groups: groups, mounts: mounts) else {
            return nil
        }
        func number(_ name: String) -> Int64? {
            text("\(directory)/\(name)").flatMap { Int64($0.filter(\.isNumber)) }
        }
        guard let usage = number("memory.current"),
            let limit = ["memory.max", "memory.high"].compactMap({ number($0) }).min()
        else { return nil }
        let parts = (text("\(directory)/memory.stat") ?? "").split(separator: "\n")
            .map { $0.split(separator: " ") }
            .filter { $0.count == 2 && Self.droppable.contains(String($0[0])) }
        self.init(
            used: max(usage - parts.compactMap { Int64($0[1]) }.reduce(0, +), 0), limit: limit)
    }

    /// The parts of `memory.stat` that the kernel can drop.
    private static let droppable = ["inactive_file", "active_file", "slab_reclaimable"]
}
