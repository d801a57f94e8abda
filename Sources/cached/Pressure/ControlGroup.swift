/// Finds the directories of this process's control groups. cgroups(7)
enum ControlGroup {
    /// A tree of control groups.
    enum Hierarchy {
        /// That of version 2.
        case unified
        /// That of the memory controller of version 1.
        case memory

        /// Whether a line of `/proc/self/cgroup` is about this tree: `0::/PATH`, or `NUMBER:CONTROLLER,…:/PATH`.
        fileprivate func isIn(_ fields: [Substring]) -> Bool {
            switch self {
            case .unified: fields[0] == "0" && fields[1].isEmpty
            case .memory: fields[1].split(separator: ",").contains("memory")
            }
        }

        /// Whether a mount of this type with these options of the file system shows this tree.
        fileprivate func isMounted(_ type: Substring, _ options: Substring) -> Bool {
            switch self {
            case .unified: type == "cgroup2"
            case .memory: type == "cgroup" && options.split(separator: ",").contains("memory")
            }
        }
    }

    /// The directory of the group's files. `nil` if the process is in no such group, or no mount shows the group.
    ///
    /// - Parameters:
    ///   - groups: the text of `/proc/self/cgroup`.
    ///   - mounts: the text of `/proc/self/mountinfo`. proc_pid_mountinfo(5)
    static func directory(
        of hierarchy: Hierarchy, groups: String, mounts: String
    ) -> String? {
        guard let path = path(in: hierarchy, groups) else { return nil }
        let places = mounts.split(separator: "\n").compactMap { Mount($0, hierarchy) }
            .compactMap { mount in mount.place(of: path).map { (mount, $0) } }
        // The mount that shows the smallest part of the tree is the one made for this process.
        return places.max { $0.0.root.utf8.count < $1.0.root.utf8.count }?.1
    }

    /// The group's path below the root of the tree. `nil` if the path leads out of the process's own namespace
    /// (`/../`), because such a path cannot be followed.
    private static func path(in hierarchy: Hierarchy, _ groups: String) -> String? {
        let lines = groups.split(separator: "\n").map {
            $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        }
        let line = lines.first { $0.count == 3 && $0[2].hasPrefix("/") && hierarchy.isIn($0) }
        guard let path = line?[2], !path.split(separator: "/").contains("..") else { return nil }
        return String(path)
    }

    /// A line of mountinfo about a mount of the tree.
    private struct Mount {
        /// The group that is mounted at `point`.
        let root: String
        let point: String

        /// `ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG…] - TYPE SOURCE OPTIONS`
        init?(_ line: Substring, _ hierarchy: Hierarchy) {
            let fields = line.split(separator: " ")
            guard fields.count > 6, let dash = fields[6...].firstIndex(of: "-"),
                fields.count > dash + 3, hierarchy.isMounted(fields[dash + 1], fields[dash + 3])
            else { return nil }
            root = ControlGroup.unescaped(fields[3])
            point = ControlGroup.unescaped(fields[4])
        }

        /// The directory of a group below this mount; `nil` if the mount does not show the group.
        func place(of path: String) -> String? {
            let root = root == "/" ? "" : root
            let isInside = path == root || path.hasPrefix(root + "/")
            guard isInside else { return nil }
            let rest = path.dropFirst(root.count)
            return rest == "/" ? point : point + rest
        }
    }

    /// The path without escapes: mountinfo writes space, tab, newline and backslash as `\` and three octal digits.
    static func unescaped(_ field: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(field.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
