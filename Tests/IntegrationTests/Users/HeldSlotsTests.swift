import Glibc
import TestSupport
import Testing

/// Four ways to hold every slot, and a newcomer beside them: another user, or another connection of the same user.
@Suite(
    "Held slots", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: geteuid() == 0, "only root can become other users"))
struct HeldSlotsTests {
    enum Attack: CaseIterable {
        /// 64 connections with 8 downloads each, which receive 1,400 bytes a second.
        case drips
        /// 64 connections with 8 requests each, which are never answered.
        case silence
        /// One connection with 2,000 URLs of 500 hosts that take no connection.
        case deadHosts
        /// 64 connections with 8 URLs each, whose names no server resolves.
        case deadNames
    }

    @Test(arguments: Attack.allCases, [TestUser.other, TestUser.greedy])
    func aNewcomersFirstImageComesBeforeAnyOfTheseDownloadsEnds(
        attack: Attack, newcomer: TestUser
    ) async throws {
        try await withTestScope { scope in
            let quiet = try ScriptedOrigin(in: scope)
            quiet.route("/a.png", .answer(body: SampleImage.png(byteCount: 9000)))
            let launcher = attack == .deadNames ? try SilentNameServer(in: scope).launcher : []
            let daemon = try await DaemonFixture.forAllUsers(launcher, in: scope)
            let gate = try Gate()
            defer { gate.open() }
            let urls = try urls(of: attack, gate, in: scope)
            let greedy = try TestUser.greedy.start(
                Self.script(of: attack), daemon.socket, urls, in: scope)
            try await greedy.waitForLine(containing: "sent", on: .standardOutput)
            try await waitUntil("all slots to be taken") {
                try await daemon.metric("transfersRunning") == 64
            }
            // The first one arrives while the slots are new.
            for number in 0..<4 {
                try await daemon.newcomersImage(quiet.url("/a.png?\(number)"), for: newcomer)
            }
        }
    }

    /// Addresses that the script asks for. Twelve origins have more slots together than there are.
    private func urls(of attack: Attack, _ gate: Gate, in scope: TestScope) throws -> [String] {
        guard attack == .drips || attack == .silence else { return [] }
        return try (0..<12).map { _ in
            let origin = try ScriptedOrigin(in: scope)
            if attack == .drips {
                let image = SampleImage.png(byteCount: 2_000_000)
                origin.route("/a.png", .trickled(image, bytesPerSecond: 1400))
            } else {
                origin.route("/a.png", [.wait(gate), .close])
            }
            return origin.url("/a.png")
        }
    }

    private static func script(of attack: Attack) -> String {
        switch attack {
        case .drips, .silence:
            """
            urls = [u + "?" + str(i) for i in range(43) for u in sys.argv[2:]][:512]
            """ + ask(connections: 64)
        case .deadNames:
            """
            urls = ["http://%d.example/a.png" % i for i in range(512)]
            """ + ask(connections: 64)
        case .deadHosts:
            TestUser.deadPort + """
                urls = ["http://127.%d.%d.1:%d/%d.png" % (1 + i // 250, i % 250, port.getsockname()[1], n)
                        for n in range(4) for i in range(500)]
                """ + ask(connections: 1)
        }
    }

    /// Asks for all URLs as `visible`, the connections in turn.
    private static func ask(connections: Int) -> String {
        """

        all = [connect() for _ in range(\(connections))]
        for i, s in enumerate(all): s.sendall(message("Fetch", urls=urls[i::len(all)], priority="visible"))
        say("sent"); time.sleep(600)
        """
    }
}
