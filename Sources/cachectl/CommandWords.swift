import ArgumentParser
import CacheWire

/// The arguments of the program, with the command first.
struct CommandWords: Equatable {
    /// `--socket` stands behind the command, wherever it was given.
    let arguments: [String]

    /// - Throws: a usage error with the nearest command if the command does not exist.
    init(_ given: [String]) throws(CommandFailure) {
        let socket = Self.socketOption(given)
        guard socket != ["--socket"] else {
            throw CommandFailure(status: .usage, message: "--socket needs a path behind it")
        }
        let rest = given.dropFirst(socket.count)
        guard let command = rest.first, !command.hasPrefix("-") else {
            // Only `--help`, `--version` and the like can follow, and they need no socket.
            arguments = Array(rest)
            return
        }
        try Self.check(command)
        arguments = [command] + socket + rest.dropFirst()
    }

    /// `--socket PATH` or `--socket=PATH` at the start.
    private static func socketOption(_ given: [String]) -> ArraySlice<String> {
        guard let first = given.first else { return [] }
        if first == "--socket" { return given.prefix(2) }
        return first.hasPrefix("--socket=") ? given.prefix(1) : []
    }

    private static func check(_ command: String) throws(CommandFailure) {
        guard !names.contains(command) else { return }
        let near = near(command)
        let advice = near.isEmpty ? "see `cachectl help`" : "did you mean \(near)?"
        throw CommandFailure(status: .usage, message: "there is no command \(command): \(advice)")
    }

    /// The commands that a person can have meant, for example `stats or status`; empty if none is near.
    private static func near(_ command: String) -> String {
        let ranked = names.map { (name: $0, edits: command.edits(to: $0)) }
            // Two edits turn one short word into many others.
            .filter { $0.edits <= ($0.name.utf8.count < 4 ? 1 : 2) }
            .sorted { $0.edits < $1.edits }
        let isExact = ranked.first?.edits == 0
        return ranked.prefix(isExact ? 1 : 2).map(\.name).joined(separator: " or ")
    }

    /// All commands and their aliases.
    private static var names: [String] {
        ["help"]
            + Cachectl.configuration.subcommands.flatMap { command in
                [command.configuration.commandName].compactMap(\.self)
                    + command.configuration.aliases
            }
    }
}
