import CLinux
import CacheWire
import Glibc
import TestSupport

/// One directory and one socket that are used by many daemons, one after the other.
final class KillTorture {
    private let origin: ImageOrigin
    private let oracle = Oracle()
    private let reader: DirectoryReader
    private let directory: String
    private let socket: String
    private var random: SeededGenerator
    /// The number of the next new URL.
    private var serial = 0
    /// URLs whose downloads the previous daemon left unfinished.
    private var unfinished: [String] = []

    private(set) var kills = 0
    private var stops = 0
    private(set) var underWay = 0
    /// Images that had to exist after each end of a daemon, in total.
    private(set) var required = 0
    /// Complete images found after each end of a daemon, in total.
    private(set) var present = 0
    /// Images read while the daemons ran.
    var imagesRead: Int { reader.imagesRead }

    init(seed: UInt64, in scope: TestScope) async throws {
        // On tmpfs a small image has no name until it is published; a large one has a partial.
        let home = try TemporaryDirectory(inMemory: scope)
        directory = home.file("cache")
        socket = home.file("s")
        random = SeededGenerator(seed: seed)
        origin = try await ImageOrigin(in: scope)
        reader = DirectoryReader(directory, origin, oracle, in: scope)
    }

    var figures: [String] {
        [
            "\(kills) kills", "\(stops) stops", "\(underWay) publications in progress",
            "\(present) images compared, 0 bad", "\(required) required, 0 lost",
            "\(imagesRead) read while running, 0 incomplete",
        ]
    }

    func run(lives: Int) async throws {
        for life in 1...lives {
            do {
                // One daemon in 25 is stopped in order, and so is the last.
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
        // An eighth of all slots is reserved for visible images.
        options.arguments = [
            "--max-transfers", "128", "--max-transfers-per-host", "128", "--min-free", "0",
        ]
        if isLimited { options.arguments += ["--max-entries", "150"] }
        return options
    }

    /// Runs all clients until `end` has finished and they have noticed it.
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
            // If `end` fails, killing the daemon makes the clients end.
            do { try await end() } catch { try await daemon.kill(); throw error }
            try await group.waitForAll()
        }
    }

    private func urls(_ count: Int, _ kind: (Int) -> ImageOrigin.Kind) -> [String] {
        defer { serial += max(count, 0) }
        return (serial..<(serial + max(count, 0))).map { origin.url(kind($0), $0) }
    }

    /// The first status reply reports every required image, whether the directory is scanned or not.
    private func expectRequiredImagesToBeCached(in scope: TestScope) async throws {
        let required = oracle.images.values.filter(\.mustExist).map(\.url)
        guard !required.isEmpty else { return }
        let reply = try await CacheClient(socket, in: scope)
            .call(Methods.Status.self, .init(urls: required))
        guard let items = reply?.items else { throw TestFailure("a new daemon does not answer") }
        let missing = items.filter { $0.state != .cached }.map(\.url)
        guard missing.isEmpty else { throw TestFailure("not cached after the start: \(missing)") }
    }

    /// Waits for some publications and a random moment, then ends the daemon.
    private func end(
        _ daemon: DaemonFixture, _ publications: FileEvents, isKilled: Bool
    ) async throws {
        for _ in 0..<Int.random(in: 1...6, using: &random) { try await publications.next() }
        // During a publication, or at any time.
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
            throw TestFailure(isKilled ? "a kill removed the socket" : "a stop left the socket")
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

    /// The lock disappears with its daemon. flock(2)
    private func expectNoLock() throws {
        let lock = open("\(directory)/.lock", O_RDWR | O_CLOEXEC)
        defer { close(lock) }
        guard lock >= 0, clinux_flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            throw TestFailure("the directory is still locked")
        }
    }

    /// The time in nanoseconds, from the same coarse clock that the file system uses. clock_gettime(2)
    private func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
