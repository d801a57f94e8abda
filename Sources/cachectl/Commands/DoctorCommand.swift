import ArgumentParser
import CacheWire

/// `cachectl doctor`
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the installation, and print how to fix each problem.",
        discussion: """
            Prints a line for each finding, which is "ok", "note" or "wrong", and below it how to fix \
            it. Works without a daemon too.
            Exit status: 0 nothing is wrong; 1 something is.
            Example: cachectl doctor
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    func run() throws {
        let examination = try Examination.now(socket: socket.socket)
        let results = Check.all.flatMap { check in
            check.examine(examination).map { CheckResult(check: check.name, finding: $0) }
        }
        var output = Output()
        if format.json {
            try results.forEach { try output.json($0) }
        } else {
            var table = Table([.left, .left, .left])
            let rows = results.flatMap { result in result.rows.map { (result.finding, $0) } }
            for ((finding, row), line) in zip(rows, table.lines(rows.map(\.1))) {
                var styled = finding.level.styled(line)
                if StandardStream.output.isTerminal, !row[0].isEmpty {
                    styled.append(finding.bar(.ofEnvironment))
                }
                try output.line(styled)
            }
        }
        try output.flush()
        let isWell = !results.contains { $0.finding.level == .wrong }
        throw (isWell ? ExitStatus.success : .incomplete).error
    }
}
