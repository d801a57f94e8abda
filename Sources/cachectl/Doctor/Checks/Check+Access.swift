extension Check {
    /// Whether other users can do more, or less, than the daemon intends.
    static let access = Check("access") { examination in
        guard let path = examination.directory, let directory = FileFacts(path),
            directory.isDirectory
        else { return [] }
        var findings: [Finding] = []
        if directory.mode & 0o022 != 0 {
            findings.append(
                .wrong(
                    "other users can write to \(path) (mode \(directory.permissions)): they can "
                        + "replace images",
                    fix: "chmod go-w \(path)"))
        }
        if let daemon = try? examination.daemon.get() {
            findings += sharing(daemon, path, directory)
        }
        guard findings.isEmpty else { return findings }
        return [.ok("\(path) has mode \(directory.permissions)")]
    }

    /// A user whom the socket lets in gets paths, and must be able to open them.
    private static func sharing(
        _ daemon: DaemonFacts, _ path: String, _ directory: FileFacts
    ) -> [Finding] {
        guard let socket = FileFacts(daemon.socket) else { return [] }
        var findings: [Finding] = []
        if daemon.user != .max, directory.user != daemon.user {
            findings.append(
                .wrong(
                    "\(path) belongs to user \(directory.user), but the daemon is user "
                        + "\(daemon.user)",
                    fix: "chown -R \(daemon.user) \(path)"))
        }
        let isOpen = socket.mode & 0o002 != 0
        if isOpen, let closed = firstClosed(path) {
            findings.append(
                .wrong(
                    "every user may connect to \(daemon.socket), but not every user may search "
                        + "\(closed)",
                    fix: "chmod o+x \(closed), or start the daemon with --socket-mode 600"))
        }
        return findings
    }

    /// The first folder on the way to a path, and itself, that other users may not search.
    private static func firstClosed(_ path: String) -> String? {
        var folder = ""
        for name in path.split(separator: "/") {
            folder += "/\(name)"
            if let facts = FileFacts(folder), facts.mode & 0o001 == 0 { return folder }
        }
        return nil
    }
}
