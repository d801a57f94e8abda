import CacheWire
import Foundation
import Glibc
import TestSupport

/// One file system through many power cuts.
final class PowerCutTorture {
    /// Publications begun before each cut.
    private static let publications = 200
    /// Entries that are kept over a cut, to be confirmed or replaced before the next.
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
            "\(cuts) cuts", "\(begun) publications begun, \(underWay) under way",
            "\(present) images compared, 0 torn", "\(required) reported, 0 lost",
        ]
    }

    func run(cuts: Int) async throws {
        for cut in 1...cuts {
            do { try await live() } catch { throw TestFailure("cut \(cut): \(error)") }
        }
    }

    /// The life of a daemon up to a cut, and what is left of it.
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

    /// What the journal gave back is what the next daemon finds.
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

    /// Fetches what is new and what may have changed, by several clients, until `cut` is through.
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
            // Whatever went wrong, without a daemon they come to their end.
            do { try await cut() } catch { try await daemon.kill(); throw error }
            try await group.waitForAll()
        }
    }

    /// Waits for some publications and a moment, and cuts the power.
    private func cut(_ daemon: DaemonFixture, in scope: TestScope) async throws {
        let publications = try FileEvents(.publications, in: directory, scope)
        if random.oneIn(2) { try NoisyNeighbour(on: disk.path, in: scope).begin() }
        try await publications.next()
        // Fewer if there are no more, by all appearances.
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            guard (try? await publications.next(within: .milliseconds(300))) != nil else { break }
        }
        // In the midst of a publication, or at any time.
        let moment = random.oneIn(2) ? 0 : Int.random(in: 0..<5000, using: &random)
        try await Task.sleep(for: .microseconds(moment))
        let urls = oracle.images.values.map(\.url)
        // Or after a report that is as late as can be.
        if random.oneIn(2) {
            oracle.didReceive(try await status(of: urls, in: scope), isFinal: false)
        }
        // What is said after the cut nobody hears.
        oracle.stopRecording()
        try disk.cutPower(losing: Self.losses.randomElement(using: &random)!)
        let items = try await status(of: urls, in: scope)
        underWay += items.count { $0.state == .inFlight && ($0.received ?? 0) > 0 }
        try await daemon.kill()
    }

    /// A journal that gets to the disk without the bytes of files tears what trusts in a rename alone.
    private static let losses: [LoopFileSystem.Loss] = [
        .everything, .everything, .everything, .bytes, .nothing,
    ]

    /// Leaves a few entries, of which the origin has two versions, for the next life.
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
