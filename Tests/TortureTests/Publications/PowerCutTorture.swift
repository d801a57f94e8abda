import CacheWire
import Foundation
import Glibc
import TestSupport

/// One file system that goes through many power cuts.
final class PowerCutTorture {
    /// The number of publications started before each cut.
    private static let publications = 200
    /// The number of entries kept over a cut, to be revalidated or replaced before the next.
    private static let kept = 40

    private let origin: ImageOrigin
    private let oracle = Oracle()
    private let disk: LoopFileSystem
    private let directory: String
    private let socket: String
    private var random: SeededGenerator
    private var serial = 0

    private(set) var cuts = 0
    private var begun = 0
    private(set) var underWay = 0
    private(set) var required = 0
    private(set) var present = 0

    init(seed: UInt64, blockSize: Int, in scope: TestScope) async throws {
        disk = try await LoopFileSystem(bytes: 64 << 20, blockSize: blockSize, in: scope)
        directory = disk.path + "/cache"
        socket = try TemporaryDirectory(in: scope).file("s")
        random = SeededGenerator(seed: seed)
        origin = try await ImageOrigin(in: scope)
    }

    var figures: [String] {
        [
            "\(cuts) cuts", "\(begun) publications started, \(underWay) in progress",
            "\(present) images compared, 0 corrupt", "\(required) reported as cached, 0 lost",
        ]
    }

    func run(cuts: Int) async throws {
        for cut in 1...cuts {
            do { try await live() } catch { throw TestFailure("cut \(cut): \(error)") }
        }
    }

    /// Runs a daemon until a power cut, and checks what is left.
    private func live() async throws {
        try await withTestScope { scope in
            var options = DaemonFixture.Options()
            options.directory = directory
            options.socket = socket
            options.arguments = [
                "--max-transfers", "256", "--max-transfers-per-host", "256", "--min-free", "0",
                "--max-bytes", "1GB",
            ]
            let daemon = try await DaemonFixture.start(options, in: scope)
            try await expectRequiredImagesToBeCached(in: scope)
            try await publish(on: daemon, in: scope) { try await self.cut(daemon, in: scope) }
        }
        try await disk.restorePower()
        let comparison = try oracle.compare(directory, origin)
        try comparison.requireValid()
        cuts += 1
        required += oracle.images.values.count(where: \.mustExist)
        present += comparison.present.count
        oracle.daemonEnded()
        try tidy()
    }

    /// The next daemon finds all that the journal restored.
    private func expectRequiredImagesToBeCached(in scope: TestScope) async throws {
        let required = oracle.images.values.filter(\.mustExist).map(\.url)
        let items = try await status(of: required, in: scope)
        let missing = items.filter { $0.state != .cached }.map(\.url)
        guard missing.isEmpty else { throw TestFailure("not cached after the cut: \(missing)") }
    }

    private func status(of urls: [String], in scope: TestScope) async throws -> [Item] {
        let client = CacheClient(socket, in: scope)
        guard let reply = try await client.call(Methods.Status.self, .init(urls: urls)) else {
            throw TestFailure("the daemon does not answer")
        }
        return reply.items
    }

    /// Several clients fetch new URLs and refresh old ones until `cut` has finished.
    private func publish(
        on daemon: DaemonFixture, in scope: TestScope, until cut: () async throws -> Void
    ) async throws {
        let traffic = Traffic(origin: origin, oracle: oracle, socket: socket)
        let old = oracle.images.values.map(\.url).sorted()
        let count = Self.publications - old.count
        let new = (serial..<(serial + count)).map {
            origin.url($0 % 4 == 0 ? .alternating : .steady, $0)
        }
        serial += count
        begun += Self.publications
        try await withThrowingTaskGroup { group in
            group.addTask { try await traffic.fetch([old], refresh: true, in: scope) }
            for part in 0..<4 {
                let urls = new.indices.filter { $0 % 4 == part }.map { new[$0] }
                group.addTask { try await traffic.fetch([urls], in: scope) }
            }
            // If `cut` fails, killing the daemon makes the clients end.
            do { try await cut() } catch { try await daemon.kill(); throw error }
            try await group.waitForAll()
        }
    }

    /// Waits for some publications and a random moment, then cuts the power.
    private func cut(_ daemon: DaemonFixture, in scope: TestScope) async throws {
        let publications = try FileEvents(.publications, in: directory, scope)
        if random.oneIn(2) { try NoisyNeighbour(on: disk.path, in: scope).begin() }
        try await publications.next()
        // Fewer if no more seem to come.
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            guard (try? await publications.next(within: .milliseconds(300))) != nil else { break }
        }
        // During a publication, or at any time.
        let moment = random.oneIn(2) ? 0 : Int.random(in: 0..<5000, using: &random)
        try await Task.sleep(for: .microseconds(moment))
        let urls = oracle.images.values.map(\.url)
        // Sometimes after a report that is as late as possible.
        if random.oneIn(2) {
            oracle.didReceive(try await status(of: urls, in: scope), isFinal: false)
        }
        // Reports after the cut do not count.
        oracle.stopRecording()
        try disk.cutPower(losing: Self.losses.randomElement(using: &random)!)
        let items = try await status(of: urls, in: scope)
        underWay += items.count { $0.state == .inFlight && ($0.received ?? 0) > 0 }
        try await daemon.kill()
    }

    /// Most cuts lose everything. A journal that reaches the disk without the files' data corrupts files
    /// that were renamed without a sync.
    private static let losses: [LoopFileSystem.Loss] = [
        .everything, .everything, .everything, .bytes, .nothing,
    ]

    /// Leaves a few entries for the next daemon, for which the origin has two versions.
    private func tidy() throws {
        var kept: Set<String> = []
        for (name, image) in oracle.images.sorted(by: { $0.key < $1.key })
        where kept.count < Self.kept && image.mustExist && image.url.contains("/alternating/") {
            kept.insert(name)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        for name in names where name.utf8.count >= 36 && !kept.contains(name) {
            guard unlink("\(directory)/\(name)") == 0 else {
                throw TestFailure("\(name) can't be removed")
            }
        }
        oracle.forget(oracle.images.keys.filter { !kept.contains($0) })
    }
}
