import ArgumentParser
import Foundation
import Testing

@testable import cachectl

/// The tables of `docs/lookup` against the commands and exit statuses of `cachectl`.
@Suite struct DocumentedCommandsTests {
    @Test func everyCommandIsInTheTable() throws {
        let rows = try Self.page("cachectl").matches(of: /(?m)^\| (`[a-z].*?) \|/)
        let documented = rows.flatMap { $0.1.matches(of: /`([a-z]+)/) }.map { String($0.1) }
        let commands = Cachectl.configuration.subcommands.compactMap { command in
            command.configuration.commandName
        }
        #expect(commands.count == Cachectl.configuration.subcommands.count)
        #expect(Set(documented).isSuperset(of: commands))
    }

    @Test func everyCommandIsInAGroupOfWhichTheFirstOneIsTheWayIn() {
        let configuration = Cachectl.configuration
        #expect(configuration.groupedSubcommands.first?.name == "Start here")
        #expect(configuration.groupedSubcommands.count > 2)
        #expect(configuration.ungroupedSubcommands.isEmpty)
    }

    @Test(arguments: [
        cachectl.ExitStatus.success, .incomplete, .inFlight, .usage, .invalidURL, .noDaemon,
        .protocolError, .missingLibrary, .inputOutput, .notPermitted, .interrupted,
    ])
    func everyExitStatusIsInTheTable(status: cachectl.ExitStatus) throws {
        #expect(try Self.page("signals-statuses-log").contains("\n| \(status.rawValue) |"))
    }

    private static func page(_ name: String) throws -> String {
        let file = URL(filePath: #filePath).appending(path: "../../../docs/lookup/\(name).md")
        return try String(contentsOf: file.standardized, encoding: .utf8)
    }
}
