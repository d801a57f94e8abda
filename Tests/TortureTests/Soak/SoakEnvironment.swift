import CacheWire
import Foundation
import TestSupport

/// What a long run takes place on: an nginx with images and errors, a daemon with less room than all of
/// them need, a file of limits, and a FIFO that speaks of memory.
struct SoakEnvironment: Sendable {
    let daemon: DaemonFixture
    let nginx: Nginx
    let pressure: FIFO
    /// Where foreignFiles keep copies.
    let aside: TemporaryDirectory
    private let configuration: TemporaryDirectory
    /// What the origin has.
    private let images: Set<[UInt8]>

    /// Different images there are; any number of URLs lead to each.
    private static let count = 400
    private static let foreignFiles = ["notes", "photo.jpg", ".hidden", "a.png", "X"]
    /// Bytes the entries may have: fewer than a quarter of the URLs in use need.
    private static let budgets = ["16MB", "12MB", "20MB"]

    init(in scope: TestScope) async throws {
        let files = try TemporaryDirectory(in: scope)
        var random = SeededGenerator(seed: testSeed)
        var images: Set<[UInt8]> = []
        for number in 0..<Self.count {
            let size = Int.random(in: 300...60_000, using: &random)
            let image = SampleImage.png(byteCount: size, seed: UInt8(truncatingIfNeeded: number))
            try files.write(image, to: "\(number).png")
            images.insert(image)
        }
        self.images = images
        nginx = try await Nginx(
            serving: ["/": files.path],
            extra: """
                access_log off;
                location /busy/ { return 503; }
                location /page/ { default_type text/html; return 200 "<html></html>"; }
                """,
            in: scope)
        pressure = try FIFO(in: scope)
        aside = try TemporaryDirectory(in: scope)
        configuration = try TemporaryDirectory(in: scope)
        daemon = try await DaemonFixture.start(
            ["--config", configuration.write("CACHED_MAX_BYTES=16MB\n", to: "cached.conf")],
            environment: [
                "MEMORY_PRESSURE_WATCH": pressure.path, "CACHED_PRESSURE_COOL_DOWN": "1s",
            ],
            in: scope)
        for name in Self.foreignFiles {
            try writeFile(Array(name.utf8), to: "\(daemon.directory)/\(name)")
        }
    }

    /// What others keep in the directory is there, and as they left it.
    func checkForeignFiles() throws {
        for name in Self.foreignFiles {
            guard try contents(of: "\(daemon.directory)/\(name)") == Array(name.utf8) else {
                throw TestFailure("the stranger's file \(name) has changed")
            }
        }
    }

    /// Whatever is an entry now is an image of the origin's, and all of it.
    func checkEntries() throws {
        for name in try entries() {
            guard try images.contains(contents(of: "\(daemon.directory)/\(name)")) else {
                throw TestFailure("\(name) is none of the images")
            }
        }
    }

    /// The URL of a number; every number leads somewhere.
    func url(_ number: Int) -> String { nginx.url("\(number % Self.count).png?\(number)") }

    /// A URL that leads to an error: not there, out of order, no image.
    func badURL(_ number: Int) -> String {
        nginx.url(["none/\(number).png", "busy/\(number).png", "page/\(number).png"][number % 3])
    }

    /// Other limits, and the signal to read them.
    func reload(_ number: Int) throws {
        let budget = Self.budgets[number % Self.budgets.count]
        try configuration.write("CACHED_MAX_BYTES=\(budget)\n", to: "cached.conf")
        daemon.process.signal(SIGHUP)
    }

    /// The names of entries that are there now.
    func entries() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: daemon.directory)
            .filter { $0.utf8.count == 36 }
    }

    func statistics() throws -> [String: JSONValue] {
        try Client(paths: [daemon.socket]).call(Methods.Stats.self, .init()).stats
    }
}
