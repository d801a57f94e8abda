import Foundation
import Glibc

/// The resources a process uses, measured from outside. proc(5).
public struct ProcessUsage: Sendable {
    /// Bytes of anonymous memory, `RssAnon`: mapped files are not included.
    public let anonymousBytes: Int
    public let threads: Int
    /// Open descriptors.
    public let descriptors: Int
    /// Processor time used so far, in user and kernel mode.
    public let processorTime: Duration

    public init(of process: Int32) throws {
        let status = try Self.fields(of: "/proc/\(process)/status")
        guard let kibibytes = status["RssAnon"], let threads = status["Threads"] else {
            throw TestFailure("/proc has no figures of process \(process)")
        }
        anonymousBytes = kibibytes << 10
        self.threads = threads
        descriptors = try FileManager.default
            .contentsOfDirectory(atPath: "/proc/\(process)/fd").count
        // The name in parentheses can contain spaces; `utime` and `stime` are the 12th and 13th fields
        // after it.
        let stat = String(decoding: try contents(of: "/proc/\(process)/stat"), as: UTF8.self)
        let numbers = stat.drop { $0 != ")" }.split(separator: " ").dropFirst(12).prefix(2)
        let ticks = numbers.compactMap { Int($0) }.reduce(0, +)
        processorTime = .milliseconds(ticks * 1000 / sysconf(Int32(_SC_CLK_TCK)))
    }

    /// A number in the status of a process, such as `VmHWM`. proc_pid_status(5).
    public static func status(_ field: String, of process: Int32) throws -> Int {
        let path = "/proc/\(process)/status"
        guard let number = try fields(of: path)[field[...]] else {
            throw TestFailure("\(path) has no number \(field)")
        }
        return number
    }

    /// Parses lines of the form `Name:   number …`.
    private static func fields(of path: String) throws -> [Substring: Int] {
        let text = String(decoding: try contents(of: path), as: UTF8.self)
        let pairs: [(Substring, Int)] = text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            let word = parts.last?.split(whereSeparator: \.isWhitespace).first
            return word.flatMap { Int($0) }.map { (parts[0], $0) }
        }
        return Dictionary(pairs) { first, _ in first }
    }
}
