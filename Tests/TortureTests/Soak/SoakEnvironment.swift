import CacheWire
import Foundation
import TestSupport

/// The environment of a long run: an nginx with images and errors, a daemon with less space than they need,
/// a configuration file with limits, and a FIFO that signals memory pressure.
struct SoakEnvironment: Sendable {
    let daemon: DaemonFixture
    let nginx: Nginx
    let pressure: FIFO
    /// A directory for copies made by other programs.
    let aside: TemporaryDirectory
    private let configuration: TemporaryDirectory
    /// The origin's images.
    private let images: Set<[UInt8]>

    /// The number of different images; any number of URLs lead to each.
    private static let count = 400
    private static let foreignFiles = ["notes", "photo.jpg", ".hidden", "a.png", "X"]
    /// Budgets in bytes: less than a quarter of the space that the URLs in use need.
    private static let budgets = ["16MB", "12MB", "20MB"]

    init(in scope: TestScope) async throws {
        let files = try TemporaryDirectory(in: scope)
        var random = SeededGenerator(seed: testSeed)
        var images: Set<[UInt8]> = []
        for number in 0..<Self.count {
            let size = Int.random(in: 300...60_000, using: &random)
            let image = SampleImage.png(byteCount: size, seed: number)
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
            environment: ["MEMORY_PRESSURE_WATCH": pressure.path], in: scope)
        for name in Self.foreignFiles {
            try writeFile(Array(name.utf8), to: "\(daemon.directory)/\(name)")
        }
    }

    /// The files of other programs in the directory exist and are unchanged.
    func checkForeignFiles() throws {
        for name in Self.foreignFiles {
            guard try contents(of: "\(daemon.directory)/\(name)") == Array(name.utf8) else {
                throw TestFailure("the foreign file \(name) has changed")
            }
        }
    }

    /// Every entry is a complete image of the origin.
    func checkEntries() throws {
        for name in try entries() {
            guard try images.contains(contents(of: "\(daemon.directory)/\(name)")) else {
                throw TestFailure("\(name) is not an image of the origin")
            }
        }
    }

    /// The URL with a number; every number has an image.
    func url(_ number: Int) -> String { nginx.url("\(number % Self.count).png?\(number)") }

    /// A URL that leads to an error: not found, unavailable, or not an image.
    func badURL(_ number: Int) -> String {
        nginx.url(["none/\(number).png", "busy/\(number).png", "page/\(number).png"][number % 3])
    }

    /// Writes other limits and signals the daemon to read them.
    func reload(_ number: Int) throws {
        let budget = Self.budgets[number % Self.budgets.count]
        try configuration.write("CACHED_MAX_BYTES=\(budget)\n", to: "cached.conf")
        daemon.process.signal(SIGHUP)
    }

    /// The names of the current entries.
    func entries() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: daemon.directory)
            .filter { $0.utf8.count == 36 }
    }

    func statistics() throws -> [String: JSONValue] {
        try Client(paths: [daemon.socket]).call(Methods.Stats.self, .init()).stats
    }
}
