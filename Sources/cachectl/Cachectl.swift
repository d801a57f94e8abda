import ArgumentParser
import CLinux
import CacheWire

/// The `cachectl` program.
@main
struct Cachectl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cachectl",
        abstract: "Query and control the image cache.",
        discussion: """
            Results go to standard output, messages to standard error. A - in place of a URL reads \
            URLs from standard input, one a line.

            Exit status: 0 success; 1 an image failed, is missing or was left undone; 2 an image is \
            in flight (status and watch); 64 wrong usage; 65 an invalid URL; 69 no daemon; 70 the \
            daemon's reply is invalid; 72 libcrypto is not installed; 74 an input or output error; 77 not permitted; \
            130 interrupted.
            """,
        version: Version.current,
        subcommands: [
            StatusCommand.self, FetchCommand.self, WatchCommand.self, TopCommand.self,
            ShowCommand.self, NameCommand.self, ListCommand.self, InfoCommand.self,
            RemoveCommand.self, PinCommand.self, UnpinCommand.self, EvictCommand.self,
            PressureCommand.self, VerifyCommand.self, StatsCommand.self,
        ])

    static func main() {
        clinux_take_standard_descriptors()
        Signals.prepare()
        do {
            if let problem = ProgramArguments.problem {
                throw CommandFailure(status: .invalidURL, message: problem)
            }
            if let request = StatusRequest(plain: CommandLine.arguments.dropFirst()) {
                try request.run()
            }
            var command = try parseAsRoot()
            try command.run()
        } catch is BrokenPipe {
            // The reader closed the pipe because it has read enough, as head(1) does.
            exit(withError: ExitStatus.success.error)
        } catch let failure as CommandFailure {
            StandardError.report(failure.message)
            exit(withError: failure.status.error)
        } catch let failure as ClientError {
            StandardError.report(failure.message)
            exit(withError: ExitStatus(failure).error)
        } catch {
            exit(withError: error)
        }
    }
}
