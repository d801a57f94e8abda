/// Finds the directory of this process's control group of version 2. cgroups(7)
enum ControlGroup {
    /// The directory of the group's files. `nil` if the process is in no such group, or no mount shows the group.
    ///
    /// - Parameters:
    ///   - groups: the text of `/proc/self/cgroup`.
    ///   - mounts: the text of `/proc/self/mountinfo`. proc_pid_mountinfo(5)
    static func directory(groups: String, mounts: String) -> String? {
        // A path that leads out of the process's own namespace (`/../`) cannot be followed.
        let line = groups.split(separator: "\n").first { $0.hasPrefix("0::/") }
        guard let path = line?.dropFirst(3), !path.split(separator: "/").contains("..") else {
            return nil
        }
        let places = mounts.split(separator: "\n").compactMap { Mount($0) }
            .compactMap { mount in mount.place(of: path).map { (mount, $0) } }
        // The mount that shows the smallest part of the tree is the one made for this process.
        return places.max { $0.0.root.utf8.count < $1.0.root.utf8.count }?.1
    }

    /// A line of mountinfo about a mount of the tree.
    private struct Mount {
        /// The group that is mounted at `point`.
        let root: String
        let point: String

        /// `ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG…] - TYPE SOURCE OPTIONS`
        init?(_ line: Substring) {
            let fields = line.split(separator: " ")
            guard fields.count > 6, let dash = fields[6...].firstIndex(of: "-"),
                fields.count > dash + 3, fields[dash + 1] == "cgroup2"
            else { return nil }
            root = ControlGroup.unescaped(fields[3])
            point = ControlGroup.unescaped(fields[4])
        }

        /// The directory of a group below this mount; `nil` if the mount does not show the group.
        func place(of path: Substring) -> String? {
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
