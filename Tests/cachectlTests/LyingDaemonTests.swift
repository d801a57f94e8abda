import CacheWire
import Glibc
import StubDaemon
import Testing

@testable import cachectl

/// A daemon that reports anything at all: no number, state or type of its replies ends the program by a trap.
@Suite("A daemon that lies", .timeLimit(.minutes(5)))
struct LyingDaemonTests {
    private static let numbers = [
        Int.min, Int.min + 1, -1_000_000_000_000, -1, 0, 1, 7, 1_000_000_000_000, 1_800_000_000,
        Int.max - 1, Int.max,
    ]

    /// Values of a member in JSON, some of them of no type that it can have.
    private static let lies =
        numbers.map { "\($0)" } + [
            "1e999", "-1e999", "1e18", "9223372036854775808", "0.5", "null", "true", "\"x\"", "[]",
            "{}", "NaN",
        ]

    /// The signals that end a program that traps. signal(7)
    private func expectNoTrap(_ outcome: Program.Outcome, _ text: String) {
        #expect(![4, 5, 6, 11].contains(outcome.status), "\(text): \(outcome.errorOutput)")
    }

    @Test(arguments: ["fetch", "status", "list", "remove", "verify", "stats", "evict --to 1MB"])
    func aCommandBearsAnyReply(words: String) throws {
        let command = words.split(separator: " ").map(String.init)
        for lie in Self.lies {
            let item =
                #"{"url":"https://a/1","key":"k","state":"inFlight","phase":"receiving","received":\#(lie),"#
                + #""total":\#(lie),"percent":\#(lie),"failure":{"kind":"x","message":"m","retryAt":\#(lie)}}"#
            let end =
                #"{"url":"https://a/1","key":"k","state":"cached","path":"/c/1","size":\#(lie),"#
                + #""width":\#(lie),"height":\#(lie),"fetchedAt":\#(lie),"lastUsedAt":\#(lie)}"#
            let sums =
                #""entries":\#(lie),"bytes":\#(lie),"checked":\#(lie),"total":\#(lie),"damaged":[]"#
            let stats =
                #""stats":{"hits":\#(lie),"misses":\#(lie),"bytesUsed":\#(lie),"failed":\#(lie)},"#
                + #""users":[\#(share(lie)),\#(share(lie))]"#
            let stub = try StubDaemon(replies: [
                #"{"parameters":{"items":[\#(item)],\#(sums),\#(stats)},"continues":true}"#,
                #"{"parameters":{"items":[\#(end)],\#(sums),\#(stats)}}"#,
            ])
            let arguments = command + (["fetch", "status"].contains(words) ? ["https://a/1"] : [])
            let rest = words == "remove" ? ["https://a/1", "https://a/2"] : []
            expectNoTrap(
                try Program.run(arguments + rest + ["--socket", stub.path]), "\(words) \(lie)")
        }
    }

    private static let key = "c01a4429-4703-5b6a-8726-7982c1849d2a"

    private func cat(_ path: String) throws -> Program.Outcome {
        let item =
            #"{"url":"https://a/1","key":"\#(Self.key)","state":"cached","path":"\#(path)"}"#
        let stub = try StubDaemon(replies: [#"{"parameters":{"items":[\#(item)]}}"#])
        return try Program.run(["cat", "https://a/1", "--socket", stub.path])
    }

    /// Otherwise a daemon could print the private files of whoever asks it.
    @Test(arguments: ["/dev/zero", "/", "/dev/stdin", "/etc/passwd"])
    func onlyTheFileOfTheImageIsPrinted(path: String) throws {
        let outcome = try cat(path)
        #expect(outcome.status == 74 && outcome.output.isEmpty)
        #expect(outcome.errorOutput.contains("is not the file of https://a/1"))
    }

    /// No command waits for a FIFO, or reads a directory, or follows a link to another file.
    @Test func onlyARegularFileIsPrinted() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/\(Self.key)"
        try #require(mkfifo(path, 0o600) == 0)
        let fifo = try cat(path)
        #expect(fifo.status == 74 && fifo.errorOutput.contains("not a regular file"))
        unlink(path)
        try #require(symlink("/etc/passwd", path) == 0)
        let link = try cat(path)
        #expect(link.status != 0 && link.output.isEmpty)
    }

    private func share(_ lie: String) -> String {
        #"{"user":\#(lie),"connections":\#(lie),"downloads":\#(lie),"waiting":\#(lie)}"#
    }

    /// Users that have no number, are no list, or are very many.
    @Test func statsBearAnyUsers() throws {
        let many = (0..<20_000).map { _ in share("7") }.joined(separator: ",")
        for users in ["[{}]", "[7]", "{}", #"[{"user":1}]"#, "[\(many)]"] {
            let reply = #"{"parameters":{"stats":{"hits":1},"users":\#(users)}}"#
            let stub = try StubDaemon(replies: [reply])
            let outcome = try Program.run(["stats", "--socket", stub.path])
            expectNoTrap(outcome, "stats \(users.prefix(100))")
            #expect(
                (outcome.status == 0) == users.hasPrefix(#"[{"user":7"#), "\(users.prefix(100))")
        }
    }

    @Test(arguments: [
        #"{"parameters":{"items":[{"url":"https://a/1","key":"k","state":"gone"}]}}"#,
        #"{"parameters":{"items":[{"url":"https://a/1","key":"k","state":"inFlight","phase":"asleep"}]}}"#,
        #"{"parameters":{"items":7}}"#, #"{"parameters":[]}"#, "{}", "[]", "", "\u{FFFD}",
        #"{"error":7}"#, #"{"parameters":{"items":[]},"continues":"yes"}"#,
    ])
    func aReplyThatIsNoneIsAnError(reply: String) throws {
        for command in ["fetch", "status"] {
            let stub = try StubDaemon(replies: [reply])
            let outcome = try Program.run([command, "https://a/1", "--socket", stub.path])
            expectNoTrap(outcome, "\(command) \(reply)")
            #expect(outcome.status != 0, "\(command) \(reply)")
        }
    }

    @Test func theDisplayOfFetchBearsEveryNumber() {
        let terminal = TerminalCapabilities(isUnicode: true, colors: .none)
        for first in Self.numbers {
            for second in Self.numbers {
                var progress = FetchProgress(urls: ["https://a/1"])
                for (step, received) in [first, second, first].enumerated() {
                    progress.replied(
                        [item(received, of: second, retryAt: first)], now: .milliseconds(step))
                    let time = LocalTime(
                        elapsed: .milliseconds(step), unixSecond: 1_800_000_000, utcOffset: 0)
                    let size = TerminalSize(columns: 100, lines: 24)
                    _ = FetchView(terminal: terminal, size: size, time: time).lines(progress)
                }
            }
        }
    }

    @Test func topBearsEveryNumber() {
        for first in Self.numbers {
            for second in Self.numbers {
                var model = TopModel(size: TerminalSize(columns: 100, lines: 24))
                for (step, received) in [first, second, first].enumerated() {
                    let now = Duration.seconds(step)
                    let item = item(received, of: second, retryAt: first)
                    model.downloadsChanged(.init(items: [item], removed: []), now: now)
                    model.watchScreen()
                    model.screenChanged(.init(items: [item], removed: []), now: now)
                    _ = model.sampled(
                        [
                            "hits": .int(received), "bytesReceived": .int(second),
                            "entries": .int(first),
                            "bytesUsed": .int(first), "bytesAllowed": .int(second),
                            "misses": .int(first),
                        ], now: now)
                    _ = TopScene.rows(of: model)
                }
                for action in model.pressed(.tab, now: .seconds(3)) {
                    guard case .list(let page) = action else { continue }
                    var image = item(first, of: second, retryAt: first)
                    image.state = .cached
                    (image.size, image.width, image.height) = (first, second, first)
                    (image.fetchedAt, image.lastUsedAt) = (first, second)
                    _ = model.listed(page, .init(items: [image]))
                }
                _ = TopScene.rows(of: model)
            }
        }
    }

    @Test func theUsersOfTopBearEveryNumber() {
        for first in Self.numbers {
            for second in Self.numbers {
                let share = UserShare(
                    user: first, connections: second, downloads: first, waiting: second)
                let other = UserShare(
                    user: second, connections: first, downloads: second, waiting: first)
                var model = TopModel(size: TerminalSize(columns: 60, lines: 10))
                for count in [1, 3000, 0, 2] {
                    let users = (0..<count).map { $0.isMultiple(of: 2) ? share : other }
                    _ = model.sampled([:], users: users, now: .zero)
                    for key in [Key.character("3"), .end, .pageUp] {
                        _ = model.pressed(key, now: .zero)
                    }
                    _ = TopScene.rows(of: model)
                }
            }
        }
    }

    private func item(_ received: Int, of total: Int, retryAt: Int) -> Item {
        var item = Item(url: "https://a/1", key: "k", state: .inFlight)
        item.phase = received.isMultiple(of: 2) ? .receiving : .retrying
        (item.received, item.total, item.percent) = (received, total, Double(received))
        item.failure = Failure(kind: "x", message: "m", retryAt: retryAt)
        return item
    }
}
