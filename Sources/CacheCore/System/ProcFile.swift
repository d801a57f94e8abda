import CLinux
import Glibc

/// Files in which the kernel describes itself. proc(5)
package enum ProcFile {
    /// The whole text of a file; `nil` if it can't be read. open(2), read(2).
    package static func text(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(descriptor, &room, room.count)
            guard count >= 0 else { return nil }
            if count == 0 { return String(decoding: text, as: UTF8.self) }
            text += room[..<count]
        }
    }

    /// The process that has an open file locked with flock(2). `nil` if the kernel does not say, for example if the
    /// process is in another namespace. proc_locks(5), pid_namespaces(7)
    static func holder(ofLock file: Int32) -> pid_t? {
        var facts = stat()
        guard fstat(file, &facts) == 0, let locks = text(of: "/proc/locks") else { return nil }
        return holder(ofLock: FileIdentity(facts), in: locks)
    }

    /// Whether a file is locked by a process of another user: neither root, nor this process's user, nor the owner of the
    /// file. Anyone who may read a file can lock it. flock(2)
    package static func isLockedByStranger(_ file: Int32) -> Bool {
        var facts = stat()
        guard fstat(file, &facts) == 0, let process = holder(ofLock: file),
            let user = user(of: process)
        else { return false }
        return ![0, geteuid(), facts.st_uid].contains(user)
    }

    /// The user who started a process, whatever rights its program has. proc_pid_status(5)
    private static func user(of process: pid_t) -> uid_t? {
        let lines = text(of: "/proc/\(process)/status")?.split(separator: "\n") ?? []
        let line = lines.first { $0.hasPrefix("Uid:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { uid_t($0) }
    }

    /// - Parameter locks: lines like `1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF`. A process that waits for a
    ///   lock has an arrow after the number.
    static func holder(ofLock file: FileIdentity, in locks: String) -> pid_t? {
        for line in locks.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count >= 6, fields[1] == "FLOCK", fields[5] == file.description else {
                continue
            }
            return pid_t(fields[4]).flatMap { $0 > 0 ? $0 : nil }
        }
        return nil
    }

    /// A file in the notation of proc_locks(5): the device in hexadecimal digits, the inode in decimal digits.
    struct FileIdentity: CustomStringConvertible {
        let description: String

        init(_ facts: stat) {
            let device = [gnu_dev_major(facts.st_dev), gnu_dev_minor(facts.st_dev)].map { part in
                let digits = String(part, radix: 16)
                return digits.count < 2 ? "0" + digits : digits
            }
            description = "\(device[0]):\(device[1]):\(facts.st_ino)"
        }
    }
}
