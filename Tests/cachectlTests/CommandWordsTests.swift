import Testing

@testable import cachectl

@Suite struct CommandWordsTests {
    @Test(arguments: [
        ([], []),
        (["list", "--json"], ["list", "--json"]),
        (["--socket", "/s", "list", "--json"], ["list", "--socket", "/s", "--json"]),
        (["--socket=/s", "rm", "--all"], ["rm", "--socket=/s", "--all"]),
        (["--socket", "/s", "--help"], ["--help"]),
        (["--socket", "/s"], []),
        (["--help"], ["--help"]),
        (["help", "list"], ["help", "list"]),
    ])
    func socketCanStandBeforeTheCommand(given: [String], arguments: [String]) throws {
        #expect(try CommandWords(given).arguments == arguments)
    }

    @Test(arguments: [
        ("stauts", "stats or status"), ("Status", "status"), ("lst", "list or ls"),
        ("remvoe", "remove"),
        ("unpn", "unpin"), ("docter", "doctor"), ("hlep", "help"),
    ])
    func misspeltCommandIsNamed(given: String, meant: String) {
        let failure = #expect(throws: CommandFailure.self) { try CommandWords([given, "u"]) }
        #expect(failure?.message == "there is no command \(given): did you mean \(meant)?")
        #expect(failure?.status == .usage)
    }

    @Test func socketNeedsAPath() {
        #expect(throws: CommandFailure.self) { try CommandWords(["--socket"]) }
    }

    @Test(arguments: ["nonsense", "xy", "https://a/1", ""])
    func otherWordsLeadToTheHelp(given: String) {
        let failure = #expect(throws: CommandFailure.self) { try CommandWords([given]) }
        #expect(failure?.message.hasSuffix("see `cachectl help`") == true)
    }

    /// ArgumentParser quotes arguments in its messages.
    @Test func messagesAboutArgumentsAreEscaped() throws {
        for arguments in [["\u{1B}[31m"], ["list", "--\u{1B}[31m"], ["list", "\u{202E}abc"]] {
            let outcome = try Program.run(arguments)
            #expect(outcome.status == 64)
            #expect(outcome.errorOutput.contains("\\u{"))
            #expect(!outcome.errorOutput.contains("\u{1B}"))
            #expect(!outcome.errorOutput.contains("\u{202E}"))
        }
        let misspelt = try Program.run(["stauts", "https://a/1"])
        #expect(misspelt.status == 64)
        #expect(
            misspelt.errorOutput.hasSuffix(
                "there is no command stauts: did you mean stats or status?\n"))
    }
}
