import CacheWire
import Glibc
import TestSupport
import Testing

/// However many connections and descriptors one user takes, another user is answered.
@Suite(
    "Turns of users", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: geteuid() == 0, "only root can become other users"))
struct TurnsOfUsersTests {
    /// Connections of other users than that of the process.
    private static let library = """
        import os, select, signal
        def users_connections(user, count):
            os.seteuid(user); made = [connect() for _ in range(count)]; os.seteuid(0); return made

        """

    /// The daemon stands still while 600 connections of a user ask, and one of another user after them.
    @Test func aCallOvertakesThoseThatAnotherUserSentBefore() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.forAllUsers(in: scope)
            let script = """
                many = message("Status", urls=["http://a.example/%d" % i for i in range(32)])
                one = message("Status", urls=["http://a.example/a.png"])
                daemon = int(sys.argv[2])
                crowd = users_connections(\(TestUser.greedy.id), 600)
                other = users_connections(\(TestUser.other.id), 1)[0]
                for s in [other] + crowd: s.sendall(one); assert b"missing" in reply(s)
                os.kill(daemon, signal.SIGSTOP)
                for s in crowd: s.sendall(many)
                other.sendall(one)
                os.kill(daemon, signal.SIGCONT)
                assert b"missing" in reply(other)
                os.kill(daemon, signal.SIGSTOP)
                answered = len(select.select(crowd, [], [], 0)[0])
                os.kill(daemon, signal.SIGCONT)
                for s in crowd: assert reply(s).count(b"missing") == 32
                say(answered)
                """
            let answered = try await TestUser.root.number(
                Self.library + script, daemon.socket, ["\(daemon.process.pid)"])
            print("turns of users: \(answered) of 600 calls were answered before")
            #expect(answered < 300)
        }
    }

    // MARK: Descriptors

    /// The kernel counts them for the user of the daemon, unless that has privileges.
    private static let launcher = [
        "setpriv", "--bounding-set=-sys_resource,-sys_admin", "prlimit", "--nofile=1024", "--",
    ]

    /// 1,024 descriptors under way are too many for the kernel. A user gets 256.
    @Test func descriptorsThatOneUserDoesNotReceiveLeaveSomeForOthers() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.forAllUsers(Self.launcher, in: scope)
            #expect(try await daemon.fetch(url).state == .cached)
            let script = """
                import array, fcntl, termios
                call = message("Open", url=sys.argv[2])
                def queued(s):
                    return array.array("i", fcntl.ioctl(s, termios.FIONREAD, bytes(4)))[0]
                def receive(s):
                    data, control, _, _ = s.recvmsg(1 << 16, socket.CMSG_SPACE(4))
                    for _, _, rights in control: os.close(array.array("i", rights)[0])
                    return data, len(control)
                def open_one(s): s.sendall(call); return receive(s)
                other = users_connections(\(TestUser.other.id), 1)[0]
                reply_length = len(open_one(other)[0])
                greedy = users_connections(\(TestUser.greedy.id), 40)
                # Some end their connection, which takes nothing out of their queues.
                ends = {0: socket.SHUT_WR, 1: socket.SHUT_RDWR, 2: socket.SHUT_RD}
                for i, s in enumerate(greedy):
                    s.sendall(call * 63)
                    while queued(s) < 63 * reply_length: time.sleep(0.001)
                    if i in ends: s.shutdown(ends[i])
                for _ in range(100):
                    data, files = open_one(other)
                    assert files == 1, data
                # The user at the limit gets an error, also over a new connection.
                late = users_connections(\(TestUser.greedy.id), 1)[0]
                data, files = open_one(late)
                assert files == 0 and b"of this user have not received 256 descriptors" in data, data
                total = 0
                for s in greedy:
                    while queued(s) > 0: total += receive(s)[1]
                assert total == 256, total
                assert open_one(late)[1] == 1
                say(0)
                """
            _ = try await TestUser.root.number(Self.library + script, daemon.socket, [url])
        }
    }
}
