/// The version 2 control group of this process, as a directory.
enum ControlGroup {
    /// Where the group's files are; `nil` if the process is in none, or none is mounted where it shows.
    ///
    /// - Parameters:
    ///   - groups: the text of `/proc/self/cgroup`; the line of version 2 is `0::/PATH`. cgroups(7)
    ///   - mounts: the text of `/proc/self/mountinfo`. proc_pid_mountinfo(5)
    static func directory(groups: String, mounts: String) -> String? {
        guard let path = path(groups) else { return nil }
        let places = mounts.split(separator: "\n").compactMap { Mount($0) }
            .compactMap { mount in mount.place(of: path).map { (mount, $0) } }
        // The mount that shows the least of the tree is the one meant for this process.
        return places.max { $0.0.root.utf8.count < $1.0.root.utf8.count }?.1
    }

    /// The group's path below the root of the tree. A path that leads out of the process's own
    /// namespace (`/../`) can't be followed.
    private static func path(_ groups: String) -> String? {
        let lines = groups.split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("0::/") }) else { return nil }
        let path = line.dropFirst("0::".count)
        return path.split(separator: "/").contains("..") ? nil : String(path)
    }

    /// A line of mountinfo that mounts the tree of version 2.
    private struct Mount {
        /// The group that lies at `point`.
        let root: String
        let point: String

        /// `ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG…] - TYPE SOURCE OPTIONS`
        init?(_ line: Substring) {
            let fields = line.split(separator: " ")
            guard fields.count > 6, let dash = fields[6...].firstIndex(of: "-"),
                fields.index(after: dash) < fields.endIndex,
                fields[fields.index(after: dash)] == "cgroup2"
            else { return nil }
            root = ControlGroup.unescaped(fields[3])
            point = ControlGroup.unescaped(fields[4])
        }

        /// Where a group shows under this mount; `nil` if it lies outside of it.
        func place(of path: String) -> String? {
            let root = root == "/" ? "" : root
            let isInside = path == root || path.hasPrefix(root + "/")
            guard isInside else { return nil }
            let rest = path.dropFirst(root.count)
            return rest == "/" ? point : point + rest
        }
    }

    /// A path as it is: mountinfo writes space, tab, newline and backslash as `\` and three octal digits.
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
