import Foundation
import TestSupport
import Testing

extension DocumentPlace {
    /// The words that run commands in the home directory, end what they have left in the background, and wait for it.
    func shell(_ text: String) throws -> [String] {
        let script = """
            cd "$HOME"
            trap 'status=$?; for job in $(jobs -p); do kill $job || :; done; wait || :; exit $status' EXIT
            \(text)
            """
        let words = ["bash", "-eu", try home.write(script, to: "block.sh")]
        return settings["system"] == nil ? words : try systemWords() + words
    }

    /// Starts a command with an empty `/run` and `/var/cache`, and a user `cached`. unshare(1).
    private func systemWords() throws -> [String] {
        let users = String(decoding: try contents(of: "/etc/passwd"), as: UTF8.self)
        let groups = String(decoding: try contents(of: "/etc/group"), as: UTF8.self)
        let passwd = try home.write(
            users + "cached:x:54322:54322::/nonexistent:/usr/sbin/nologin\n", to: "passwd")
        let group = try home.write(groups + "cached:x:54322:\n", to: "group")
        let script = """
            set -e
            mount -t tmpfs tmpfs /run
            mount -t tmpfs tmpfs /var/cache
            mount --bind "\(passwd)" /etc/passwd
            mount --bind "\(group)" /etc/group
            exec "$@"
            """
        return ["unshare", "--mount", "sh", "-c", script, "sh"]
    }

    /// A folder with programs that stand for others: `pidof` knows only the daemon of this place, and `make` and the
    /// programs that change the system only check what they would do.
    func standIns() throws -> String {
        let folder = try home.directory("stand-ins")
        var programs: [String: String] = [:]
        if let process = daemon?.process.pid { programs["pidof"] = "echo \(process)" }
        if settings["dry"] != nil {
            programs["make"] = "exec /usr/bin/make -n -C '\(Libcached.root)' \"$@\" > /dev/null"
            programs["sudo"] = "exec \"$@\""
            for name in ["apt", "systemd-sysusers", "systemd-tmpfiles", "systemctl"] {
                programs[name] = "exit 0"
            }
        }
        for (name, line) in programs {
            let path = try home.write("#!/bin/sh\n\(line)\n", to: "stand-ins/" + name)
            chmod(path, 0o755)
        }
        return folder
    }

    /// Types the lines of a block into a terminal. A program that is started in the background is ready before the
    /// next line.
    func type(_ text: String) async throws {
        let terminal = try await Tmux(columns: 120, lines: 40, in: scope)
        for (name, value) in try environment() {
            try await terminal.type("export \(name)='\(value)'")
        }
        try await terminal.type("cd; clear")
        let lines = placed(text).split(separator: "\n").map(String.init)
        for (number, line) in lines.enumerated() {
            try await terminal.type(line)
            if line.hasSuffix("&") { try await terminal.waitFor("listening") }
            guard number < lines.count - 1 else { break }
            try await terminal.type("echo $? line \(number)")
            try await terminal.waitFor("0 line \(number)")
        }
        try await terminal.waitFor("q quit")
        try await terminal.press("q")
        try await terminal.waitFor("line \(lines.count - 2)")
        try await terminal.type("kill %1; wait; echo ended $?")
        try await terminal.waitFor("ended ")
    }
}
