import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// No behaviour of one user keeps another user's calls from being answered or downloads from starting.
@Suite(
    "Users", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: geteuid() == 0, "only root can become other users"))
struct UsersTests {
    // MARK: Names

    /// Everybody would see that image in the place of the right one, or its failure.
    @Test(arguments: [
        ("https://bank.example/logo.png", "/a.png"),
        // Servers that take the last of two parameters send another image.
        ("/a.png?src=good", "/a.png?src=good&src=evil"),
        ("/a.png", "/a.png?sig=1"),
        ("/a.png", "/a.png"),
        // Servers refuse a URL of this length.
        ("/a.png", "/a.png?" + String(repeating: "x", count: 7900)),
    ])
    func aUserChoosesNoKey(key: String, url: String) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let daemon = try await DaemonFixture.forAllUsers(in: scope)
            let key = key.hasPrefix("/") ? origin.url(key) : key
            let script = """
                wants = [{"url": "http://127.0.0.1/other.png"}, {"url": sys.argv[2], "key": sys.argv[3]}]
                s = connect()
                s.sendall(message("Fetch", wants=wants))
                say(reply(s)[:-1].decode())
                s.sendall(message("Fetch", wants=[], follow=True).replace(b"{", b'{"more": true, ', 1))
                reply(s)
                s.sendall(message("Adjust", add=wants).replace(b"{", b'{"oneway": true, ', 1))
                s.sendall(message("Adjust", add=wants).replace(b"{", b'{"more": true, ', 1))
                data = b""
                while b"error" not in data: data += reply(s)
                say(data.split(b"\\0")[-2].decode())
                """
            let user = try TestUser.other.start(
                script, daemon.socket, [origin.url(url), key], in: scope)
            #expect(try await user.waitForExit() == .success)
            let replies = try user.text(.standardOutput).split(separator: "\n").map {
                try AnyReply(String($0))
            }
            #expect(replies.count == 2)
            for reply in replies {
                #expect(reply.error == "org.varlink.service.PermissionDenied")
                #expect(
                    reply.reason?.contains("may choose a key or give also; leave them out") == true)
            }
            #expect(origin.requests().isEmpty)
            #expect(try await daemon.status(key).failure == nil)
            // The owner and root may.
            let want = #"{"url":\#(quoted(origin.url("/a.png"))),"key":\#(quoted(key))}"#
            let answer = try await daemon.ask(call("Fetch", parameters: #""wants":[\#(want)]"#))
            #expect(answer.items.map(\.state) == [.cached])
        }
    }

    private static let fetchByDigest = """
        s = connect()
        s.sendall(message("Fetch", urls=[sys.argv[2]], sha256=sys.argv[3]))
        say(reply(s)[:-1].decode())
        """

    /// Everybody would see the image with that digest in the place of the right one.
    @Test(arguments: ["missing", "fresh", "stale", "pinned", "gone"])
    func aUserPutsNoImageUnderAnotherURLByItsDigest(state: String) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let (good, evil) = (SampleImage.png(byteCount: 5000), SampleImage.png(seed: 1))
            let lifetime = state == "stale" ? "max-age=0" : "max-age=1000"
            origin.route(
                "/logo.png", .answer(headers: ["Cache-Control": lifetime], body: good))
            origin.route("/evil.png", .answer(body: evil))
            let daemon = try await DaemonFixture.forAllUsers(in: scope)
            let logo = origin.url("/logo.png")
            if ["fresh", "stale", "pinned"].contains(state) {
                #expect(try await daemon.fetch(logo).state == .cached)
            }
            if state == "pinned" {
                #expect(try await daemon.cachectl("pin", logo).status == .success)
            }
            if state == "gone" { origin.route("/logo.png", .answer(404)) }
            #expect(try await daemon.fetch(origin.url("/evil.png")).state == .cached)
            let digest = try #require(
                try await daemon.status(origin.url("/evil.png"), details: true).sha256)
            let before = origin.requests("/logo.png").count
            let user = try TestUser.other.start(
                Self.fetchByDigest, daemon.socket, [logo, digest], in: scope)
            #expect(try await user.waitForExit() == .success)
            let item = try AnyReply(String(user.text(.standardOutput).dropLast())).items.first
            #expect(item?.failure?.kind == (state == "gone" ? "http" : "digestMismatch"))
            let isAsked = ["missing", "stale", "gone"].contains(state)
            #expect(origin.requests("/logo.png").count == before + (isAsked ? 1 : 0))
            let known = try await daemon.status(logo)
            #expect(known.state == (state == "gone" ? .missing : .cached))
            if let path = known.path { #expect(try contents(of: path) == good) }
            // The owner and root may.
            let call = call("Fetch", [logo], parameters: #""sha256":"\#(digest)""#)
            let adopted = try await daemon.ask(call).items.first
            #expect(adopted?.state == .cached && adopted?.failure == nil)
            #expect(try contents(of: daemon.path(logo)) == evil)
        }
    }

    /// The administrator says which parameters do not count.
    @Test func aRuleOfTheConfigurationNamesTheImagesOfAllUsers() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let daemon = try await DaemonFixture.forAllUsers(
                ["env", "CACHED_IGNORE_QUERY=127.0.0.1:sig"], in: scope)
            let urls = (1...2).map { origin.url("/a.png?sig=\($0)") }
            for (user, url) in zip([TestUser.other, .greedy], urls) {
                _ = try await user.measure(TestUser.fetch, daemon.socket, [url])
            }
            #expect(origin.requests().count == 1)
            #expect(try await daemon.status(origin.url("/a.png")).state == .cached)
        }
    }

    // MARK: Connections

    /// A user who takes all connections of one user gets an error, and other users are not disturbed.
    @Test func idleConnectionsOfOneUserLeaveSeatsForOthers() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.forAllUsers(
                ["prlimit", "--nofile=400", "--"], in: scope)
            let script = """
                held = []; refused = 0
                while refused < 200:
                    s = connect(); s.settimeout(0.05)
                    try: refused += b"TooManyConnections" in s.recv(1000)
                    except TimeoutError: held.append(s)
                say("held %d" % len(held)); time.sleep(600)
                """
            let greedy = try TestUser.greedy.start(script, daemon.socket, in: scope)
            let held = try await greedy.waitForLine(containing: "held", on: .standardOutput)
            // A quarter of 400 files, less those that downloads need.
            #expect((30...60).contains(Int(held.dropFirst("held ".count)) ?? 0), "\(held)")
            let line = try await daemon.process.waitForLine(containing: "too many connections")
            #expect(line.contains("user=\(TestUser.greedy.id)"))
            let program = try TemporaryDirectory(in: scope).file("cachectl")
            try await runSuccessfully("cp", [try BuiltProducts.program("cachectl"), program])
            chmod((program as NSString).deletingLastPathComponent, 0o755)
            let words = ["timeout", "10", program, "stats", "--socket", daemon.socket]
            for (user, status) in [(TestUser.other, 0), (TestUser.greedy, 69)] {
                let all = user.launcher + words
                let output = try await run(all[0], Array(all.dropFirst()))
                #expect(output.status.code == Int32(status), "\(output.errorText)")
                if status != 0 { #expect(output.errorText.contains("connections")) }
            }
        }
    }

    @Test func statsSayWhatEachUserTakes() async throws {
        try await withTestScope { scope in
            let gate = try Gate()
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", [.wait(gate), .close])
            let daemon = try await DaemonFixture.forAllUsers(in: scope)
            let script = """
                all = [connect() for _ in range(7)]
                all[0].sendall(message("Fetch", urls=[sys.argv[2] + "?%d" % i for i in range(40)]))
                say("sent"); time.sleep(600)
                """
            let greedy = try TestUser.greedy.start(
                script, daemon.socket, [origin.url("/a.png")], in: scope)
            try await greedy.waitForLine(containing: "sent", on: .standardOutput)
            try await gate.reached(count: 6)
            let ask = """
                s = connect(); s.sendall(message("Stats"))
                print(json.dumps(json.loads(reply(s)[:-1])["parameters"]["users"]), flush=True)
                """
            let words = [ask, daemon.socket]
            let other = try TestUser.other.start(words[0], words[1], in: scope)
            let users = try await other.waitForLine(containing: "[", on: .standardOutput)
            #expect(
                users == #"""
                    [{"user": 54321, "connections": 7, "downloads": 6, "waiting": 40}, \#
                    {"user": 54322, "connections": 1, "downloads": 0, "waiting": 0}]
                    """#)
            let report = try await daemon.cachectl("stats").text
            #expect(report.contains("User 54321") && report.contains("7 connections, 6 downloads"))
            gate.open()
        }
    }

    @Test func topHasAViewOfTheUsers() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.forAllUsers(in: scope)
            let script = #"all = [connect() for _ in range(7)]; say("sent"); time.sleep(600)"#
            let greedy = try TestUser.greedy.start(script, daemon.socket, in: scope)
            try await greedy.waitForLine(containing: "sent", on: .standardOutput)
            let terminal = try await Tmux(columns: 80, lines: 24, in: scope)
            let program = try BuiltProducts.program("cachectl")
            try await terminal.type("'\(program)' top --socket \(daemon.socket)")
            try await terminal.waitFor("4 users")
            try await terminal.press("4")
            try await terminal.waitFor("54321            7          0          0")
            try await terminal.press("q")
        }
    }

    // MARK: Calls

    @Test(
        .disabled(if: isSanitized, "a sanitizer multiplies latencies"),
        .enabled(if: isLongForm, "its bound is for a machine without other load"))
    func pipelinedCallsOfOneUserDoNotDelayAnothersStatus() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.forAllUsers(in: scope)
            let latency = """
                s = connect(); times = []
                for i in range(300):
                    began = time.monotonic()
                    s.sendall(message("Status", urls=["http://a.example/" + str(i)])); reply(s)
                    times.append(time.monotonic() - began)
                say(sorted(times)[297] * 1000)
                """
            let quiet = try await TestUser.other.measure(latency, daemon.socket)
            let flood = """
                import select
                data = message("Status", urls=["http://a.example/a.png"]) * 400
                all = [connect() for _ in range(300)]
                for s in all: s.setblocking(False)
                rest = dict.fromkeys(all, 0); said = False
                while True:
                    r, w, _ = select.select(all, all, [])
                    for s in r: s.recv(1 << 20)
                    for s in w:
                        try: rest[s] = (rest[s] + s.send(data[rest[s]:])) % len(data)
                        except BlockingIOError: pass
                    if not said: say("flooding"); said = True
                """
            let greedy = try TestUser.greedy.start(flood, daemon.socket, in: scope)
            try await greedy.waitForLine(containing: "flooding", on: .standardOutput)
            let before = try await daemon.metric("calls")
            // The best of three, because other programs can keep the machine busy for a while.
            var busy = try await TestUser.other.measure(latency, daemon.socket)
            for _ in 0..<2 {
                busy = min(busy, try await TestUser.other.measure(latency, daemon.socket))
            }
            let after = try await daemon.metric("calls")
            #expect(after - before > 5000, "the flood is only \(after - before) calls")
            // If other programs keep the machine busy, the quiet measurement was slow too.
            #expect(
                busy < max(.milliseconds(10), quiet * 4),
                "p99 \(quiet) before, \(busy) with the flood")
        }
    }

    /// Each connection can have one, and two threads read those of a user.
    @Test func longMessagesThatWaitAreLimited() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.forAllUsers(in: scope)
            let script = """
                import threading
                call = b'{"method":"org.varlink.service.GetInfo"' + b" " * (15 << 20) + b"}\\0"
                answers = []
                # Few at a time, because incomplete messages are limited too.
                turn = threading.Semaphore(4)
                def ask():
                    s = connect()
                    with turn:
                        try: s.sendall(call)
                        except BrokenPipeError: pass
                    answers.append(reply(s))
                all = [threading.Thread(target=ask) for _ in range(40)]
                for t in all: t.start()
                for t in all: t.join()
                refused = sum(b"InvalidMessage" in a and b"holds 256 MiB" in a for a in answers)
                said = sum(b'"product":"cached"' in a for a in answers)
                say("%d %d" % (refused, said))
                """
            let greedy = try TestUser.greedy.start(script, daemon.socket, in: scope)
            let long = """
                urls = ["http://a.example/" + str(i) for i in range(2000)]
                s = connect(); began = time.monotonic()
                s.sendall(message("Status", urls=urls))
                assert reply(s).count(b"missing") == 2000
                say((time.monotonic() - began) * 1000)
                """
            _ = try await TestUser.other.measure(long, daemon.socket)
            let counts = try await greedy.waitForLine(containing: " ", on: .standardOutput)
                .split(separator: " ").compactMap { Int($0) }
            #expect(counts.reduce(0, +) == 40, "\(counts)")
            // The sum of a user has room for more than eight.
            #expect(counts[0] >= 1 && counts[1] >= 8, "\(counts)")
        }
    }

    // MARK: Managers

    /// Over a connection that was open before, too.
    @Test func aManagerWhoIsRemovedHasNoRightsAfterAReload() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let file = try home.write(
                "CACHED_MANAGERS=\(TestUser.other.id)\n", to: "cached.conf")
            let daemon = try await DaemonFixture.forAllUsers(
                arguments: ["--config", file], in: scope)
            let script = """
                def is_refused(s):
                    s.sendall(message("Remove", urls=["http://a.example/a.png"]))
                    return b"PermissionDenied" in reply(s)
                s = connect()
                assert not is_refused(s)
                say("manages")
                while not is_refused(s): pass
                assert is_refused(connect())
                say("refused")
                """
            let manager = try TestUser.other.start(script, daemon.socket, in: scope)
            try await manager.waitForLine(containing: "manages", on: .standardOutput)
            try home.write("CACHED_MANAGERS=\(TestUser.greedy.id)\n", to: "cached.conf")
            daemon.process.signal(SIGHUP)
            let line = try await daemon.process.waitForLine(containing: "configuration read again")
            #expect(line.contains("changed=CACHED_MANAGERS"))
            #expect(!daemon.log.contains("need a restart"))
            try await manager.waitForLine(containing: "refused", on: .standardOutput)
            // And the one who was added has them.
            let added = try TestUser.greedy.start(
                script.replacing("say(\"manages\")", with: "say(\"manages\"); sys.exit(0)"),
                daemon.socket, in: scope)
            #expect(try await added.waitForExit() == .success)
        }
    }

    // MARK: Detached downloads

    @Test func detachedDownloadsOfAClientThatLeftTakeNobodysQuota() async throws {
        try await withTestScope { scope in
            let gate = try Gate()
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", [.wait(gate), .close])
            let daemon = try await DaemonFixture.forAllUsers(in: scope)
            let detach = """
                urls = [sys.argv[2] + "?" + sys.argv[3] + str(i) for i in range(int(sys.argv[4]))]
                s = connect(); began = time.monotonic()
                s.sendall(message("Fetch", urls=urls, wait=False))
                answer = reply(s)
                assert b'"items"' in answer[:100], answer[:500]
                say((time.monotonic() - began) * 1000)
                """
            let url = origin.url("/a.png")
            // The quota of a user is 200,000.
            _ = try await TestUser.greedy.measure(detach, daemon.socket, [url, "g", "150000"])
            // And the first client of this user is gone.
            _ = try await TestUser.greedy.measure(detach, daemon.socket, [url, "h", "60000"])
            _ = try await TestUser.other.measure(detach, daemon.socket, [url, "o", "1000"])
            // As many of the first client's downloads have ended as the second one needed.
            #expect(try await daemon.metric("transfersQueued") <= 201_000)
            gate.open()
        }
    }
}
