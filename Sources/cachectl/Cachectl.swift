import ArgumentParser
import CLinux
import CacheWire
import Glibc

/// The `cachectl` program.
@main
struct Cachectl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cachectl",
        abstract: "Query and control the image cache.",
        discussion: """
            Results go to standard output, messages to standard error. A - in place of a URL reads \
            URLs from standard input, one a line. --socket PATH can stand before the command too.
            Exit status: 0 success; 1 an image failed, is missing or was left undone; 2 an image is \
            in flight (status, info and watch); 64 wrong usage; 65 an invalid URL; 69 no daemon; 70 \
            the daemon's reply is invalid; 72 libcrypto is not installed; 74 an input or output \
            error; 77 not permitted; \
            130 interrupted.
            """,
        version: Version.current,
        groupedSubcommands: [
            CommandGroup(
                name: "Start here",
                subcommands: [
                    FetchCommand.self, ShowCommand.self, ListCommand.self, TopCommand.self,
                    GalleryCommand.self,
                ]),
            CommandGroup(
                name: "Images",
                subcommands: [
                    StatusCommand.self, InfoCommand.self, WhyCommand.self, WatchCommand.self,
                    CatCommand.self,
                    OpenCommand.self, NameCommand.self, LinkCommand.self, ImportCommand.self,
                ]),
            CommandGroup(
                name: "What stays",
                subcommands: [
                    PinCommand.self, UnpinCommand.self, RemoveCommand.self, EvictCommand.self,
                    PressureCommand.self,
                ]),
            CommandGroup(
                name: "The cache",
                subcommands: [
                    StatsCommand.self, HistoryCommand.self, VerifyCommand.self, StoreCommand.self,
                    DoctorCommand.self, PingCommand.self,
                ]),
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
            let words = try CommandWords(Array(CommandLine.arguments.dropFirst()))
            var command = try parseAsRoot(words.arguments)
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
            end(with: error)
        }
    }

    /// Prints the message of ArgumentParser and exits. The message of an error can quote an argument, and so a URL
    /// that a script got from elsewhere.
    private static func end(with error: any Error) -> Never {
        let status = exitCode(for: error)
        guard !status.isSuccess else { exit(withError: error) }
        let message = fullMessage(for: error)
        if !message.isEmpty { StandardError.write(lines: message) }
        Glibc.exit(status.rawValue)
    }
}
