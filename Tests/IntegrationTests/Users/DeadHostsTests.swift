import Glibc
import TestSupport
import Testing

/// Hosts and name servers that one user asks, and that never answer, do not delay another user's first download.
@Suite(
    "Dead hosts", .serialized, .timeLimit(.minutes(15)),
    .enabled(if: geteuid() == 0, "only root can become other users"))
struct DeadHostsTests {
    private func quietOrigin(in scope: TestScope) throws -> ScriptedOrigin {
        let origin = try ScriptedOrigin(in: scope)
        origin.route("/a.png", .answer(body: SampleImage.png(byteCount: 9000)))
        return origin
    }

    // MARK: Name servers

    /// The clients of the greedy user leave while names are looked up, which nothing can stop, and come again.
    @Test func lookupsThatHangTakeNoSlotFromAnotherUser() async throws {
        try await withTestScope { scope in
            let names = try SilentNameServer(in: scope)
            let origin = try quietOrigin(in: scope)
            let daemon = try await DaemonFixture.forAllUsers(names.launcher, in: scope)
            let script = """
                def stats():
                    control.sendall(message("Stats")); return json.loads(reply(control)[:-1])["parameters"]
                def wait(name, count):
                    while stats()["stats"][name] != count: time.sleep(0.01)
                def come(turn):
                    all = [connect() for _ in range(64)]
                    for i, s in enumerate(all):
                        url = "http://%d-%d.example/a.png" % (turn, i)
                        s.sendall(message("Fetch", urls=[url], priority="visible"))
                    return all
                control = connect()
                for turn in range(2):
                    all = come(turn)
                    wait("transfersRunning", 64)
                    for s in all: s.close()
                    wait("connections", 1)
                stay = come(2)
                wait("connections", 65)
                say("waiting"); time.sleep(600)
                """
            let greedy = try TestUser.greedy.start(script, daemon.socket, in: scope)
            try await greedy.waitForLine(containing: "waiting", on: .standardOutput)
            for number in 0..<3 {
                try await daemon.newcomersImage(origin.url("/a.png?\(number)"), for: .other)
            }
        }
    }

    // MARK: Hosts

    /// Hosts that take no connection. In the long form another user comes again and again until the last of 2,000
    /// hosts has failed.
    @Test func deadHostsTakeNoSlotFromAnotherUser() async throws {
        try await withTestScope { scope in
            let origin = try quietOrigin(in: scope)
            let daemon = try await DaemonFixture.forAllUsers(in: scope)
            let script =
                TestUser.deadPort + """
                    urls = ["http://127.%d.%d.1:%d/a.png" % (1 + i // 250, i % 250, port.getsockname()[1])
                            for i in range(2000)]
                    all = [connect() for _ in range(80)]
                    for i, s in enumerate(all): s.sendall(message("Fetch", urls=urls[i::80], priority="visible"))
                    say("sent")
                    for s in all: reply(s)
                    say("over")
                    """
            let greedy = try TestUser.greedy.start(script, daemon.socket, in: scope)
            try await greedy.waitForLine(containing: "sent", on: .standardOutput)
            try await waitUntil("all slots to be taken") {
                try await daemon.metric("transfersRunning") == 64
            }
            for number in 0..<3 {
                try await daemon.newcomersImage(origin.url("/a.png?\(number)"), for: .other)
            }
            var times: [Duration] = []
            while isLongForm, greedy.exitStatus == nil {
                let url = origin.url("/a.png?more\(times.count)")
                times.append(
                    try await TestUser.other.measure(TestUser.fetch, daemon.socket, [url]))
            }
            if isLongForm {
                #expect(greedy.text(.standardOutput).contains("over"))
                // docs/understand/order-and-fairness.md; a dead host takes 11 s.
                #expect(times.sorted()[times.count / 2] < .seconds(1))
                #expect(times.max()! < .seconds(5))
                print("dead hosts: \(times.count) images of another user, at most \(times.max()!)")
            }
        }
    }
}
