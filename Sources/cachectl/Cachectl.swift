import ArgumentParser
import CLinux
import CacheWire

/// The command line of the image cache.
@main
struct Cachectl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cachectl",
        abstract: "Ask the image cache, and tell it what to do.",
        discussion: """
            Data goes to standard output, talk to standard error. URLs are read from standard \
            input where - stands for them, one a line.

            Exit status: 0 done; 1 something failed, is missing or was left undone; 2 (status) in flight; \
            64 wrong usage; 65 an invalid URL; 69 no daemon; 77 not permitted; 130 interrupted.
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
            // The reader has seen enough: head(1) and friends do that.
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
