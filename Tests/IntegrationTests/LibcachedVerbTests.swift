import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// The calls of the C library for single images.
@Suite("libcached, one image", .serialized, .timeLimit(.minutes(5)))
struct LibcachedVerbTests {
    private let image = SampleImage.png(byteCount: 90_000)

    @Test func anImageIsAddedAndDroppedAlone() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            for name in ["a", "b"] {
                origin.route("/\(name).png", .gated(image, after: 30_000, gate))
            }
            let (a, b) = (origin.url("/a.png"), origin.url("/b.png"))
            let daemon = try await DaemonFixture.start(in: scope)
            let driver = try await LibcachedDriver(daemon, in: scope)
            try driver.tell("add 1 \(a)", "add 0 \(b)", "add 2 \(b)")
            _ = try await driver.line("add 0", number: 3)
            try await waitUntil("both to be downloaded") { try await daemon.downloads() == 2 }
            #expect(try await driver.ask("drop \(a)", answer: "drop") == "drop 0")
            try await waitUntil("one download to stop") { try await daemon.downloads() == 1 }
            #expect(try await driver.ask("drop \(a)", answer: "drop") == "drop 0")
            gate.open()
            try driver.tell("news 1")
            _ = try await driver.line("news cached \(b)")
            #expect(!driver.lines.contains { $0.hasPrefix("news cached \(a)") })
            #expect(try await driver.ask("add 7 \(a)", answer: "add -") == "add -\(EINVAL)")
            // The same set by other means: what is in both sets is not disturbed.
            #expect(try await driver.ask("want 1 \(b)", answer: "want") == "want 0")
            #expect(try await daemon.status(b).state == .cached)
        }
    }

    @Test func aGetEndsInTimeAndTellsHowFarTheImageIs() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(image, after: 30_000, gate))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let driver = try await LibcachedDriver(daemon, in: scope)
            try driver.tell("get 1000 \(url)")
            try await gate.reached()
            let line = try await driver.line("get")
            #expect(line.hasPrefix("get -\(ETIMEDOUT) image inFlight \(url) 30000/90000"))
            gate.open()
            // The daemon's own limit is a failure for this caller alone.
            let other = try Gate()
            origin.route("/b.png", .gated(image, after: 30_000, other))
            let late = try await driver.ask(
                "get -1 \(origin.url("/b.png")) timeout=200", answer: "get 3")
            #expect(late.contains(" deadline "))
            other.open()
            #expect(try await driver.ask("get -1 \(url)", answer: "get 2").contains(" image/png "))
        }
    }

    @Test func attemptsAreThoseOfTheRequest() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(503))
            var options = DaemonFixture.Options()
            options.environment["CACHED_ATTEMPTS"] = "8"
            let daemon = try await DaemonFixture.start(options, in: scope)
            let driver = try await LibcachedDriver(daemon, in: scope)
            let line = try await driver.ask(
                "get -1 \(origin.url("/a.png")) attempts=1", answer: "get")
            #expect(line.hasPrefix("get 3 ") && line.contains(" http "))
            #expect(origin.requests().count == 1)
        }
    }

    @Test func aRefreshShowsAnotherFileByItsIdentity() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let fresh: HeaderFields = ["Cache-Control": "max-age=600"]
            origin.route("/a.png", .answer(headers: fresh, body: image))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let driver = try await LibcachedDriver(daemon, in: scope)
            #expect(try await driver.ask("identity \(url)", answer: "identity") == "identity 0")
            _ = try await driver.ask("get -1 \(url)", answer: "get 2")
            let first = try await driver.ask("identity \(url)", answer: "identity")
            #expect(first != "identity 0")
            // A fresh image needs no question.
            _ = try await driver.ask("get -1 \(url)", answer: "get 2")
            #expect(origin.requests().count == 1)
            origin.route("/a.png", .answer(headers: fresh, body: SampleImage.png(byteCount: 8000)))
            let line = try await driver.ask("refresh -1 \(url)", answer: "get 2")
            #expect(line.contains(" 8000/8000 ") && origin.requests().count == 2)
            #expect(try await driver.ask("identity \(url)", answer: "identity") != first)
            // An origin that cannot be asked leaves the image.
            origin.route("/a.png", .answer(500))
            let failed = try await driver.ask("refresh -1 \(url)", answer: "get 2")
            #expect(failed.contains(" 8000/8000 ") && failed.contains(" http "))
            try await daemon.stop()
            #expect(try await driver.ask("get -1 \(url)", answer: "get 2").contains(" 8000/8000 "))
        }
    }

    @Test func aRefreshWithoutTimeGoesOnInTheDaemon() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let fresh: HeaderFields = ["Cache-Control": "max-age=600"]
            origin.route("/a.png", .answer(headers: fresh, body: image))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let driver = try await LibcachedDriver(daemon, in: scope)
            _ = try await driver.ask("get -1 \(url)", answer: "get 2")
            let gate = try Gate()
            let newer = SampleImage.png(byteCount: 8000)
            origin.route("/a.png", .gated(newer, after: 4000, gate))
            let line = try await driver.ask("refresh 0 \(url)", answer: "get -")
            #expect(line.hasPrefix("get -\(ETIMEDOUT) image cached \(url)"))
            try driver.tell("end")
            _ = try await driver.process.waitForExit()
            try await gate.reached()
            gate.open()
            try await waitUntil("the newer image") {
                try await daemon.status(url).size == newer.count
            }
            // Nothing is lost without a word.
            try await daemon.stop()
            let alone = try await LibcachedDriver(daemon, in: scope)
            #expect(
                try await alone.ask("refresh 0 \(url)", answer: "get -")
                    == "get -\(ECONNREFUSED) none")
        }
    }

    @Test func aTypeThatIsNotAcceptedIsAFailureForTheCallerAlone() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route(
                "/a.png", .answer(headers: ["Cache-Control": "max-age=600"], body: image))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let driver = try await LibcachedDriver(daemon, in: scope)
            for (accept, answer) in [
                ("image/jpeg,image/webp", "get 3"), ("IMAGE/PNG;q=0.5", "get 2"),
                ("image/jpeg,image/*", "get 2"), ("*/*", "get 2"), ("image/pn", "get 3"),
                ("text/*", "get 3"),
            ] {
                let line = try await driver.ask("get -1 \(url) accept=\(accept)", answer: answer)
                #expect(line.contains(" notAccepted ") == (answer == "get 3"))
            }
            try driver.tell("add 1 \(url) accept=image/avif", "news 1")
            #expect(try await driver.line("news failed").contains(" notAccepted "))
            // The same image with other terms.
            try driver.tell("add 1 \(url) accept=image/png", "want 1 \(url)")
            #expect(try await daemon.status(url).state == .cached)
            #expect(origin.requests().count == 1)
        }
    }

    @Test func headerFieldsReachTheOriginOfAnAccount() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = image
            origin.route("/a.png") { request in
                request.headers["Authorization"] == "Bearer secret"
                    ? .answer(body: image) : .answer(401)
            }
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let driver = try await LibcachedDriver(daemon, in: scope)
            // Spaces separate the words of the driver, and belong to no header field of it.
            let header = "header=Authorization:Bearer"
            for request in [
                "\(url) header=X:1", "\(url)#as=ada header=X", "\(url)#as=ada header=:1",
            ] {
                #expect(
                    try await driver.ask("get 9000 \(request)", answer: "get -22") == "get -22 none"
                )
            }
            let other = try await driver.ask("get -1 \(url)#as=ada \(header)", answer: "get 3")
            #expect(other.contains(" http "))
            #expect(origin.requests().last?.headers["Authorization"] == "Bearer")
            let refused = try await driver.ask(
                "get -1 \(url)#as=ada header=Host:a", answer: "get 3")
            #expect(refused.contains(" invalidHeaders "))
            #expect(try await driver.line("message", number: 2).contains("sets Host"))
            // All other images come, also those that have header fields.
            for name in ["b", "c"] { origin.route("/\(name).png", .answer(body: image)) }
            let (b, c) = (origin.url("/b.png"), origin.url("/c.png#as=ada"))
            try driver.tell("add 1 \(c) header=X:1", "add 1 \(url)#as=eve header=Range:a")
            try driver.tell("add 1 \(b)", "news 3")
            #expect(try await driver.line("news failed").contains(" \(url)#as=eve "))
            #expect(driver.lines.filter { $0.contains(" invalidHeaders ") }.count == 2)
            _ = try await driver.line("news cached \(b)")
            _ = try await driver.line("news cached \(c)")
            origin.route("/a.png", .answer(body: image))
            _ = try await driver.ask("get -1 \(url)#as=bob header=X:1", answer: "get 2")
            #expect(try await driver.ask("remove-account bob", answer: "remove") == "remove 0")
            #expect(try await daemon.status("\(url)#as=bob").state == .missing)
        }
    }

    @Test func manyStatesComeByOneCallAndWithoutADaemonFromTheDirectory() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: image))
            let (a, b) = (origin.url("/a.png"), origin.url("/b.png"))
            let daemon = try await DaemonFixture.start(in: scope)
            let driver = try await LibcachedDriver(daemon, in: scope)
            _ = try await daemon.fetch(a)
            for round in 1...2 {
                try driver.tell("status \(a) \(b) \(a)")
                #expect(try await driver.line("status", number: round) == "status 0")
                let items = driver.lines.filter { $0.hasPrefix("item") }.suffix(3)
                let path = try daemon.path(a)
                #expect(items.filter { $0.hasPrefix("item cached \(a) 90000") }.count == 2)
                #expect(items.filter { $0.hasSuffix(path) }.count == 2)
                #expect(items.filter { $0.hasPrefix("item missing \(b)") }.count == 1)
                if round == 1 { try await daemon.stop() }
            }
            #expect(
                try await driver.ask("remove \(a)", answer: "remove") == "remove -\(ECONNREFUSED)")
        }
    }

    @Test func aSmallerImageStandsIn() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png(width: 640, height: 480)))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let driver = try await LibcachedDriver(daemon, in: scope)
            for side in [32, 128] { _ = try await daemon.fetch("\(url)#side=\(side)") }
            let path = try daemon.path("\(url)#side=128")
            for side in [256, 2048] {
                #expect(
                    try await driver.ask("stand-in \(url)#side=\(side)", answer: "stand-in")
                        == "stand-in \(path)")
            }
            #expect(
                try await driver.ask("stand-in \(url)#side=64", answer: "stand-in")
                    == "stand-in \(daemon.path("\(url)#side=32"))")
            for other in ["\(url)#side=32", "\(url)?1", "\(url)#as=ada&side=256", url] {
                #expect(
                    try await driver.ask("stand-in \(other)", answer: "stand-in") == "stand-in -")
            }
            #expect(try await driver.ask("remove \(url)", answer: "remove") == "remove 0")
            #expect(
                try await driver.ask("stand-in \(url)#side=256", answer: "stand-in") == "stand-in -"
            )
        }
    }

    @Test func aSocketThatHangsEndsAGetAndAStatusInTime() async throws {
        try await withTestScope { scope in
            let listener = try UnixListener(in: scope)
            let driver = try await LibcachedDriver(
                directory: "/nonexistent", socket: listener.path, in: scope)
            let line = try await driver.ask("get 300 https://a.example/a.png", answer: "get")
            #expect(line.hasPrefix("get -\(ETIMEDOUT) image missing"))
            #expect(
                try await driver.ask("status https://a.example/a.png", answer: "status")
                    == "status -\(ETIMEDOUT)")
        }
    }

    @Test func anImportRunsItsProgram() async throws {
        try await withTestScope { scope in
            let daemons = try DetachedDaemons(in: scope)
            let file = try daemons.home.write(image, to: "image")
            let text = try daemons.home.write("text", to: "text")
            let driver = try await LibcachedDriver(starting: daemons, in: scope)
            let url = "https://a.example/a.png"
            let imports = [
                ("\(url) \(file)", 0), ("\(url) \(file)", 0), ("\(url)?1 \(text)", EBADMSG),
                ("\(url) /none", ENOENT), ("ftp://a/ \(file)", EINVAL),
            ]
            for (number, (words, error)) in imports.enumerated() {
                try driver.tell("import \(words)")
                let line = try await driver.line("import", number: number + 1)
                #expect(line == "import \(-error)")
            }
            let line = try await driver.ask("peek \(url)", answer: "peek")
            #expect(line.hasPrefix("peek cached \(url) 90000"))
            #expect(daemons.processes.isEmpty)
            let poor = try await LibcachedDriver(
                starting: daemons, path: "/nonexistent", in: scope)
            let answer = try await poor.ask("import \(url) \(file)", answer: "import")
            #expect(answer == "import -\(ENOENT)")
        }
    }

    @Test(arguments: ["cc", "c++"])
    func theFakeFollowsItsScript(compiler: String) async throws {
        let source = "Tests/IntegrationTests/ThirdParty/libcached-fake.c"
        let directory = try await Libcached.directory()
        let options = compiler == "c++" ? ["-x", "c++", "-std=c++20", "-pedantic"] : ["-std=c99"]
        let program = try await Libcached.compile(
            compiler, Libcached.root + source, to: "\(directory)/fake-\(compiler)", options)
        let output = try await run(program)
        #expect(output.status == .success, "\(output.errorText)")
    }
}
