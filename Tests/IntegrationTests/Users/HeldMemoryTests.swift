import Glibc
import TestSupport
import Testing

/// Whatever one user sends, the daemon holds a limited amount of memory for all of it, answers others, and gives the
/// memory back. `HeldAnswersTests` has answers that are not read.
@Suite(
    "Held memory", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: geteuid() == 0, "only root can become other users"),
    .disabled(if: isSanitized, "a sanitizer needs more memory"))
struct HeldMemoryTests {
    /// Scripts that take memory until the user may have no more, and then say "full".
    private static let attacks = [
        "watched URLs": """
        data = message("Watch", urls=["http://a.example/" + "x" * 60 + str(n) for n in range(100_000)])
        data = data.replace(b"{", b'{"more": true, ', 1)
        held = []; answer = b""
        while b"TooMany" not in answer:
            s = connect(); s.sendall(data); answer = reply(s); held.append(s)
        assert len(held) > 3, len(held)
        say("full")
        """,
        "awaited URLs": """
        held = []; answer = b""
        while b"TooMany" not in answer:
            s = connect(); held.append(s)
            urls = ["%s?%d-%d" % (sys.argv[2], len(held), n) for n in range(20_000)]
            s.sendall(message("Fetch", urls=urls, follow=True).replace(b"{", b'{"more": true, ', 1))
            answer = reply(s)
        assert len(held) > 8, len(held)
        say("full")
        """,
        "half messages": """
        import select
        held = []
        while not select.select(held[:400], [], [], 0)[0]:
            s = connect(); s.settimeout(60); held.append(s)
            s.sendall(b'{"method":"' + b"x" * 8_000_000)
        answer = next(s for s in held if select.select([s], [], [], 0)[0]).recv(1000)
        assert b"InvalidMessage" in answer and b"256 MiB" in answer, answer
        say("full")
        """,
    ]

    @Test(arguments: attacks.keys.sorted())
    func oneUserHasOneSum(attack: String) async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.forAllUsers(in: scope)
            let gate = try Gate()
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", [.wait(gate), .close])
            let script = try #require(Self.attacks[attack]) + "\ntime.sleep(600)"
            let greedy = try TestUser.greedy.start(
                script, daemon.socket, [origin.url("/a.png")], in: scope)
            try await greedy.waitForLine(
                containing: "full", on: .standardOutput, within: .seconds(240))
            let most = try ProcessUsage(of: daemon.process.pid).anonymousBytes
            // The sum is 256 MiB; what a call takes while it is being read and answered comes on top.
            #expect(most < 600 << 20, "\(most >> 20) MiB")
            // Another user has a sum of his own.
            let status = """
                s = connect(); s.sendall(message("Watch", urls=["http://a.example/%d" % n for n in range(1000)]))
                assert reply(s).count(b"missing") == 1000
                say(0)
                """
            _ = try await TestUser.other.measure(status, daemon.socket)
            let watch = Stopwatch()
            greedy.signal(SIGKILL)
            try await waitUntil("the memory to be given back", within: .seconds(120)) {
                try ProcessUsage(of: daemon.process.pid).anonymousBytes < 40 << 20
            }
            print("\(attack): \(most >> 20) MiB, given back after \(watch.time)")
            gate.open()
        }
    }
}
