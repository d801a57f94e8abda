import CacheKey
import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// The C library against the daemon, with and without it, and through its restarts.
@Suite("libcached", .serialized, .timeLimit(.minutes(5)))
struct LibcachedTests {
    private let image = SampleImage.png(byteCount: 90_000)

    @Test func namesAndStatesNeedNoDaemon() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: image))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let driver = try await LibcachedDriver(daemon, in: scope)
            #expect(
                try await driver.ask("name \(url)", answer: "name")
                    == "name \(CacheKey(try CacheURL(url)))")
            #expect(try await driver.ask("peek \(url)", answer: "peek").hasPrefix("peek missing"))
            #expect(try await daemon.fetch(url).state == .cached)
            try await daemon.stop()
            let line = try await driver.ask("peek \(url)", answer: "peek cached")
            #expect(line.contains(" 90000/90000 ") && line.contains(" image/png "))
            #expect(line.hasSuffix(try daemon.path(url)))
            #expect(try await driver.ask("file \(url)", answer: "file") == "file 90000")
        }
    }

    @Test func progressAndTheEndAreNews() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(image, after: 30_000, gate))
            origin.route("/b.png", .answer(404))
            let (a, b) = (origin.url("/a.png"), origin.url("/b.png"))
            let daemon = try await DaemonFixture.start(in: scope)
            let driver = try await LibcachedDriver(daemon, in: scope)
            try driver.tell("want 2 \(a) 0 \(b)", "news 2")
            #expect(try await driver.line("want") == "want 0")
            _ = try await driver.line("news inFlight \(a) 30000/90000")
            #expect(try await driver.line("news failed \(b)").contains(" http "))
            gate.open()
            let line = try await driver.line("news cached \(a)")
            #expect(line.contains(" 90000/90000 640x480 ") || line.contains("image/png"))
        }
    }

    /// 120 cells pass through a window of 10: downloads that have left the window stop.
    @Test func whatIsNoLongerWantedStops() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let urls = (0..<120).map { origin.url("/\($0).png") }
            for number in 0..<120 {
                origin.route("/\(number).png", .gated(image, after: 100, gate))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            let driver = try await LibcachedDriver(daemon, in: scope)
            for start in stride(from: 0, through: 110, by: 5) {
                let window = urls[start..<(start + 10)].map { "2 \($0)" }.joined(separator: " ")
                #expect(try await driver.ask("want \(window)", answer: "want") == "want 0")
            }
            try driver.tell("news 10")
            let inWindow = Set(urls[110...])
            try await waitUntil("the downloads outside of the window to stop") {
                let reply = try await daemon.ask(call("List", parameters: #""state":"inFlight""#))
                return Set(reply.items.map(\.url)) == inWindow
            }
            gate.open()
            _ = try await driver.line("news cached", number: 10)
            for url in urls[110...] { #expect(try await daemon.status(url).state == .cached) }
            // Nothing wanted: the stream ends.
            #expect(try await driver.ask("want", answer: "want") == "want 0")
            try await waitUntil("the stream to end") { try await daemon.metric("watchers") == 0 }
        }
    }

    @Test(arguments: [false, true])
    func aRestartOfTheDaemonLosesNothing(isKilled: Bool) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let small = SampleImage.png()
            for number in 0..<1000 {
                origin.route(
                    "/\(number).png",
                    number == 500 ? .gated(small, after: 10, gate) : .answer(body: small))
            }
            var options = DaemonFixture.Options()
            options.socket = try TemporaryDirectory(in: scope).file("socket")
            let daemon = try await DaemonFixture.start(options, in: scope)
            let driver = try await LibcachedDriver(daemon, in: scope)
            try driver.tell("want-many 1000 \(origin.url("/"))", "news 100000")
            try await gate.reached()
            let next = try await daemon.replace(afterCrash: isKilled)
            gate.open()
            try await next.waitForState(.cached, of: origin.url("/500.png"))
            try await waitUntil("all images to be told") {
                Set(
                    driver.lines.filter { $0.hasPrefix("news cached") }.map {
                        $0.split(separator: " ")[2]
                    }
                )
                .count == 1000
            }
            #expect(driver.lines.filter { $0.hasPrefix("news failed") } == [])
        }
    }

    @Test func withoutADaemonImagesFailAfterAWhileAndComeWhenItDoes() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: image))
            let url = origin.url("/a.png")
            let place = try TemporaryDirectory(in: scope)
            var options = DaemonFixture.Options()
            options.socket = place.file("socket")
            options.directory = place.file("cache")
            let driver = try await LibcachedDriver(
                directory: place.file("cache"), socket: place.file("socket"), patience: 300,
                in: scope)
            try driver.tell("want 1 \(url)", "news 1")
            #expect(try await driver.line("news failed \(url)").contains(" noDaemon "))
            #expect(try await driver.ask("file \(url)", answer: "file").hasPrefix("file -"))
            #expect(try await driver.ask("pin \(url)", answer: "pin").hasPrefix("pin -"))
            #expect(try await driver.ask("pressure", answer: "pressure") == "pressure 0")
            try driver.tell("news 1")
            _ = try await DaemonFixture.start(options, in: scope)
            _ = try await driver.line("news cached \(url)")
        }
    }

    /// A program that sees the socket and not the directory.
    @Test func aFileIsHandedOverWhereThePathLeadsNowhere() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: image))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let driver = try await LibcachedDriver(
                directory: "/nonexistent", socket: daemon.socket, in: scope)
            #expect(try await driver.ask("file \(url)", answer: "file") == "file -2")
            _ = try await daemon.fetch(url)
            #expect(try await driver.ask("file \(url)", answer: "file 9") == "file 90000")
            #expect(try await driver.ask("pin \(url)", answer: "pin") == "pin 0")
            #expect(try await daemon.status(url, details: true).pinned == true)
            #expect(try await driver.ask("pressure", answer: "pressure") == "pressure 0")
            _ = try await daemon.ask(call("Pressure", parameters: #""level":"critical""#))
            try await waitUntil("the level to be told") {
                try await driver.ask("pressure", answer: "pressure") == "pressure 2"
                    || driver.lines.contains("pressure 2")
            }
        }
    }

    /// Messages of a hostile or broken daemon end the connection, and the library tries again until its patience
    /// ends.
    @Test(arguments: [
        "{}", "garbage", "", #"{"error":"io.cached.Cache.ShuttingDown"}"#,
        #"{"parameters":{"items":[{"url":1}]},"continues":true}"#,
    ])
    func aBrokenDaemonIsLikeNone(answer: String) async throws {
        try await withTestScope { scope in
            let listener = try UnixListener(in: scope)
            let driver = try await LibcachedDriver(
                directory: "/nonexistent", socket: listener.path, patience: 500, in: scope)
            try driver.tell("want 1 http://a.example/1.png", "news 1")
            // It connects again after each answer.
            for _ in 1...2 { try await listener.accept().write(answer + "\0") }
            #expect(try await driver.line("news failed").contains(" noDaemon "))
        }
    }

    @Test func aDaemonThatAcceptsAndNeverAnswersIsLikeNone() async throws {
        try await withTestScope { scope in
            let listener = try UnixListener(in: scope)
            let driver = try await LibcachedDriver(
                directory: "/nonexistent", socket: listener.path, patience: 500, in: scope)
            try driver.tell("want 1 http://a.example/1.png", "news 1")
            #expect(try await driver.line("news failed").contains(" noDaemon "))
        }
    }

    @Test func aPinThatIsNotPermittedSaysSo() async throws {
        try await withTestScope { scope in
            let listener = try UnixListener(in: scope)
            let driver = try await LibcachedDriver(
                directory: "/nonexistent", socket: listener.path, in: scope)
            try driver.tell("pin http://a.example/1.png")
            let daemon = try await listener.accept()
            _ = try await daemon.read(20)
            try await daemon.write(
                #"{"error":"org.varlink.service.PermissionDenied","parameters":{}}"# + "\0")
            #expect(try await driver.line("pin") == "pin -\(EPERM)")
        }
    }

    @Test func thousandsOfWantsAndAnAbsurdURLAreAnswered() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let driver = try await LibcachedDriver(daemon, in: scope)
            let long = "http://a.example/" + String(repeating: "x", count: 9000)
            try driver.tell("want 1 \(long)", "news 1")
            #expect(try await driver.line("news failed").contains(" invalidURL "))
            // A scheme that the cache refuses, so that nothing is downloaded.
            try driver.tell("want-many 100000 ftp://a.example/", "news 100000")
            try await waitUntil("all of them to fail", within: .seconds(60)) {
                driver.lines.count >= 100_002
            }
        }
    }

    @Test func agreesWithTheVectors() async throws {
        let vectors = Libcached.root + "Tests/Vectors"
        let program = try await Libcached.program("Tests/Vectors/c/vectors.c")
        let output = try await run(
            "python3", [vectors + "/c/vectors.py", vectors, program], within: .seconds(120))
        #expect(output.status == .success, "\(output.errorText)")
    }

    /// The whole life of a program: all calls, a failure, a restart of the daemon, and its end.
    @Test(.enabled(if: !isSanitized, "valgrind cannot run a sanitizer's programs"))
    func valgrindFindsNoErrorAndNoLeak() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: image))
            origin.route("/b.png", .answer(404))
            let (a, b) = (origin.url("/a.png"), origin.url("/b.png"))
            var options = DaemonFixture.Options()
            options.socket = try TemporaryDirectory(in: scope).file("socket")
            let daemon = try await DaemonFixture.start(options, in: scope)
            let driver = try await LibcachedDriver(
                daemon,
                launcher: [
                    "valgrind", "--quiet", "--error-exitcode=99", "--leak-check=full",
                    "--errors-for-leak-kinds=definite,indirect,possible",
                ], in: scope)
            let absurd = "http://a.example/" + String(repeating: "x", count: 9000)
            for url in [a, absurd] { _ = try await driver.ask("peek \(url)", answer: "peek") }
            try driver.tell("name \(a)", "want 2 \(a) 0 \(b)", "news 2")
            _ = try await driver.line("news cached \(a)")
            _ = try await driver.line("news failed \(b)")
            #expect(try await driver.ask("pressure", answer: "pressure") == "pressure 0")
            #expect(try await driver.ask("pin \(a)", answer: "pin") == "pin 0")
            _ = try await daemon.replace(afterCrash: true)
            try driver.tell("want 1 \(a) 1 ftp://c.example/", "news 1", "file \(a)")
            #expect(try await driver.line("file") == "file 90000")
            try driver.tell("want-many 100 ftp://a.example/", "news 100")
            _ = try await driver.line("news failed ftp://a.example/", number: 100)
            try driver.tell(
                "drop ftp://a.example/7.png", "add 1 \(a)?1#as=ada header=X:1 accept=image/gif",
                "add 1 \(a)?2 header=X:1", "news 1", "get 9000 \(a)",
                "refresh 9000 \(a) attempts=1",
                "get 9000 \(b)", "status \(a) \(b)", "stand-in \(b)", "available")
            #expect(try await driver.line("available") == "available 1")
            #expect(driver.lines.filter { $0.hasPrefix("get 2 image cached") }.count == 2)
            try driver.tell("remove \(a)", "remove-account ada", "end")
            let status = try await driver.process.waitForExit()
            #expect(status == .success, "\(driver.process.text(.standardError))")
        }
    }

    @Test func theLibraryNeedsLibcAloneAndExportsItsFunctions() async throws {
        let library = try await Libcached.directory() + "/libcached.so.0"
        let needed = try await runSuccessfully("readelf", ["-d", library])
            .split(separator: "\n").filter { $0.contains("(NEEDED)") }
        #expect(needed.count == 1 && needed[0].contains("libc.so.6"))
        let symbols = try await runSuccessfully("nm", ["-D", "--defined-only", library])
            .split(separator: "\n").compactMap { $0.split(separator: " ").last }
        #expect(symbols.count == 23 && symbols.allSatisfy { $0.hasPrefix("cached_") })
    }
}
