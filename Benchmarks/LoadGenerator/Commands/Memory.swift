import ArgumentParser

/// `memory`: the memory that belongs to a process alone, without mapped files and shared pages.
struct Memory: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print RssAnon and VmHWM of a process from /proc/PID/status, in bytes.")

    @Argument(help: "The process ID.")
    var pid: Int

    func run() throws {
        let lines = try TextFile.lines(of: "/proc/\(pid)/status")
        let anonymous = try kibibytes("RssAnon:", in: lines)
        let peak = try kibibytes("VmHWM:", in: lines)
        print("{\"rssAnonBytes\":\(anonymous * 1024),\"peakRssBytes\":\(peak * 1024)}")
    }

    /// Parses the number in a line such as `RssAnon:	    1234 kB`. proc_pid_status(5).
    private func kibibytes(_ name: String, in lines: [String]) throws -> Int {
        guard let line = lines.first(where: { $0.hasPrefix(name) }),
            let number = Int(line.filter(\.isWholeNumber))
        else {
            throw BenchFailure("/proc/\(pid)/status has no \(name)")
        }
        return number
    }
}
