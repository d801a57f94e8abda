import ArgumentParser

/// `processes`: the cost of one complete run of a command, from posix_spawn to its end.
struct Processes: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a command N times, one after another; print the median time.",
        discussion: "Output goes to /dev/null. An unexpected exit status ends the measurement.")

    @Option(help: "The number of runs.")
    var count = 100

    @Option(help: "The number of runs before the measurement starts.")
    var warmup = 5

    @Option(help: "The exit status every run must have.")
    var expect = 0

    @Argument(parsing: .postTerminator, help: "The command and its arguments, after --.")
    var command: [String] = []

    func validate() throws {
        guard !command.isEmpty else { throw ValidationError("Name a command after --.") }
        guard count > 0, warmup >= 0 else { throw ValidationError("--count must be positive.") }
    }

    func run() throws {
        let child = ChildCommand(command)
        var latencies = Latencies(capacity: count)
        for round in 0..<(warmup + count) {
            let started = Monotonic.nanoseconds()
            try child.run(expecting: expect)
            guard round >= warmup else { continue }
            latencies.record(Monotonic.nanoseconds() - started)
        }
        let summary = latencies.summary()
        print("{\"processes\":\(count),\(summary.jsonMembers)}")
    }
}
