import CLinux
import CacheWire
import Glibc
import TestSupport

/// One directory and one socket through the lives of many daemons.
final class KillTorture {
    private let origin: ImageOrigin
    private let oracle = Oracle()
    private let reader: DirectoryReader
    private let directory: String
    private let socket: String
    private var random: SeededGenerator
    /// The next URL nobody has asked for.
    private var serial = 0
    /// Of those a life before has left behind.
    private var unfinished: [String] = []

    private(set) var kills = 0
    private var stops = 0
    private(set) var underWay = 0
    /// What was required after each end, taken together.
    private(set) var required = 0
    /// Whole images found after each end, taken together.
    private(set) var present = 0
    /// Looks at files while the daemons lived.
    var imagesRead: Int { reader.imagesRead }

    init(seed: UInt64, in scope: TestScope) async throws {
        // There small images never have a name before that of their entry, large ones do.
        let home = try TemporaryDirectory(inMemory: scope)
        directory = home.file("cache")
        socket = home.file("s")
        random = SeededGenerator(seed: seed)
        origin = try await ImageOrigin(in: scope)
        reader = DirectoryReader(directory, origin, oracle, in: scope)
    }

    var figures: [String] {
        [
            "\(kills) kills", "\(stops) stops", "\(underWay) publications under way",
            "\(present) images compared, 0 bad", "\(required) required, 0 lost",
            "\(imagesRead) read meanwhile, 0 partial",
        ]
    }

    func run(lives: Int) async throws {
        for life in 1...lives {
            do {
                // A life in 25 ends in order, and so does the last.
                try await live(isKilled: life % 25 != 0 && life != lives)
            } catch {
                throw TestFailure("life \(life): \(error)")
            }
        }
    }

    private func live(isKilled: Bool) async throws {
        try await withTestScope { scope in
            let begun = now()
            let isLimited = random.oneIn(3)
            oracle.daemonStarted(evicting: isLimited)
            let daemon = try await DaemonFixture.start(options(isLimited: isLimited), in: scope)
            let publications = try FileEvents(.publications, in: directory, scope)
            try await expectRequiredImagesToBeCached(in: scope)
            try await work(on: daemon, in: scope) {
                try await self.end(daemon, publications, isKilled: isKilled)
            }
            try take(try oracle.compare(directory, origin, begun: begun), isKilled: isKilled)
        }
    }

    private func options(isLimited: Bool) -> DaemonFixture.Options {
        var options = DaemonFixture.Options()
        options.directory = directory
        options.socket = socket
        // Of all places, an eighth is for what is visible.
        options.arguments = [
            "--max-transfers", "128", "--max-transfers-per-host", "128", "--min-free", "0",
        ]
        if isLimited { options.arguments += ["--max-entries", "150"] }
        return options
    }

    /// All clients, until `end` is through and they have noticed.
    private func work(
        on daemon: DaemonFixture, in scope: TestScope, until end: () async throws -> Void
    ) async throws {
        let traffic = Traffic(origin: origin, oracle: oracle, socket: socket)
        let quick = (0..<3).map { _ in
            (0..<50).map { _ in urls(16) { $0 % 3 == 0 ? .alternating : .steady } }
        }
        let slow = [unfinished + urls(16 - unfinished.count) { _ in .slow }]
        let seed = random.next()
        try await withThrowingTaskGroup { group in
            for batches in quick + [slow] {
                group.addTask { try await traffic.fetch(batches, in: scope) }
            }
            group.addTask { try await traffic.interfere(seed, in: scope) }
            // Whatever went wrong, without a daemon they come to their end.
            do { try await end() } catch { try await daemon.kill(); throw error }
            try await group.waitForAll()
        }
    }

    private func urls(_ count: Int, _ kind: (Int) -> ImageOrigin.Kind) -> [String] {
        defer { serial += max(count, 0) }
        return (serial..<(serial + max(count, 0))).map { origin.url(kind($0), $0) }
    }

    /// What is required is reported by the first answer, be the directory read by then or not.
    private func expectRequiredImagesToBeCached(in scope: TestScope) async throws {
        let required = oracle.images.values.filter(\.mustExist).map(\.url)
        guard !required.isEmpty else { return }
        let reply = try await CacheClient(socket, in: scope)
            .call(Methods.Status.self, .init(urls: required))
        guard let items = reply?.items else { throw TestFailure("a new daemon does not answer") }
        let missing = items.filter { $0.state != .cached }.map(\.url)
        guard missing.isEmpty else { throw TestFailure("not cached after the start: \(missing)") }
    }

    /// Waits for some publications and a moment, and ends the daemon.
    private func end(
        _ daemon: DaemonFixture, _ publications: FileEvents, isKilled: Bool
    ) async throws {
        for _ in 0..<Int.random(in: 1...6, using: &random) { try await publications.next() }
        // In the midst of a publication, or at any time.
        let moment = random.oneIn(2) ? 0 : Int.random(in: 0..<20_000, using: &random)
        try await Task.sleep(for: .microseconds(moment))
        guard isKilled else { return try await daemon.stop() }
        try await daemon.kill()
    }

    private func take(_ comparison: Oracle.Comparison, isKilled: Bool) throws {
        try comparison.requireValid()
        try reader.requireValid()
        try expectNoLock()
        guard (access(socket, F_OK) == 0) == isKilled else {
            throw TestFailure(isKilled ? "a kill has removed the socket" : "a stop left the socket")
        }
        if isKilled { kills += 1 } else { stops += 1 }
        let images = oracle.images
        required += images.values.count(where: \.mustExist)
        present += comparison.present.count
        if isKilled { underWay += comparison.underWay }
        unfinished = images.values.filter { $0.isPending && $0.url.contains("/slow/") }
            .map(\.url).sorted().shuffled(using: &random).suffix(12)
        oracle.daemonEnded()
        let ofInterest = comparison.present.union(try unfinished.map(Oracle.name))
        oracle.forget(images.keys.filter { !ofInterest.contains($0) })
    }

    /// The lock of a daemon goes with it. flock(2)
    private func expectNoLock() throws {
        let lock = open("\(directory)/.lock", O_RDWR | O_CLOEXEC)
        defer { close(lock) }
        guard lock >= 0, clinux_flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            throw TestFailure("the directory is still locked")
        }
    }

    /// The file system's clock is this one, as coarse. clock_gettime(2)
    private func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
