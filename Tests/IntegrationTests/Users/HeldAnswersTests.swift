import Glibc
import TestSupport
import Testing

/// Answers that a user does not read take a limited amount of memory, and other users are still answered.
@Suite(
    "Held answers", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: geteuid() == 0, "only root can become other users"),
    .enabled(if: isLongForm, "a debug build needs a while for so many answers"),
    .disabled(if: isSanitized, "a sanitizer needs more memory"))
struct HeldAnswersTests {
    /// The answer to each call is ten times as long as the call.
    @Test func unreadAnswersOfOneUserAreLimited() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.forAllUsers(in: scope)
            let script = """
                import select
                call = message("Status", urls=["http://a.example/%d" % i for i in range(30000)])
                rest = {connect(): 0 for _ in range(120)}
                for s in rest: s.setblocking(False)
                while True:
                    for s in select.select([], list(rest), [])[1]:
                        try: rest[s] = (rest[s] + s.send(call[rest[s]:])) % len(call)
                        except BlockingIOError: pass
                        except OSError:
                            if len(rest) == 120: say("ended")
                            del rest[s]
                """
            let greedy = try TestUser.greedy.start(script, daemon.socket, in: scope)
            let status = """
                s = connect(); began = time.monotonic()
                s.sendall(message("Status", urls=["http://a.example/a.png"])); reply(s)
                say((time.monotonic() - began) * 1000)
                """
            var slowest = Duration.zero
            var most = 0
            while !greedy.text(.standardOutput).contains("ended") {
                slowest = max(
                    slowest, try await TestUser.other.measure(status, daemon.socket))
                most = max(most, try daemon.process.residentBytes())
            }
            // The sum is 256 MiB; calls that are being answered and the overhead of the heap come on top.
            #expect(most < 1 << 30, "the daemon holds \(most) bytes")
            #expect(slowest < .seconds(1), "a status took \(slowest)")
            greedy.signal(SIGKILL)
            try await waitUntil("the memory to be given back", within: .seconds(120)) {
                _ = try await daemon.metric("connections")
                return try daemon.process.residentBytes() < 100 << 20
            }
            print("held answers: \(most >> 20) MiB at most, a status \(slowest)")
        }
    }
}
