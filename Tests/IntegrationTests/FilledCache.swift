import CacheWire
import Glibc
import TestSupport
import Testing

/// A daemon, an origin, and images of one size that were fetched one after the other. Number 0 is the
/// least recently used.
struct FilledCache {
    let origin: ScriptedOrigin
    private(set) var daemon: DaemonFixture
    let urls: [String]

    /// - Parameters:
    ///   - size: bytes of each image.
    ///   - prepare: called with the daemon before the first image is fetched.
    init(
        _ count: Int, of size: Int = 8000, _ options: DaemonFixture.Options = .init(),
        in scope: TestScope, prepare: (DaemonFixture) throws -> Void = { _ in }
    ) async throws {
        let origin = try ScriptedOrigin(in: scope)
        self.origin = origin
        urls = (0..<count).map { origin.url("/\($0).png") }
        daemon = try await DaemonFixture.start(options, in: scope)
        try prepare(daemon)
        for (number, url) in urls.enumerated() {
            let image = SampleImage.png(byteCount: size, seed: number)
            origin.route("/\(number).png", .answer(body: image))
            let item = try await daemon.fetch(url)
            try #require(item.state == .cached, "\(String(describing: item.failure))")
        }
        // They take a block on the disk.
        for number in try held() { _ = try await ExtendedAttributes.all(of: path(number)) }
    }

    /// The path of an image, whether it exists or not.
    func path(_ number: Int) throws -> String { try daemon.path(urls[number]) }

    /// The numbers of the images whose files exist.
    func held() throws -> [Int] {
        try urls.indices.filter { size(at: try path($0)) != nil }
    }

    /// The disk space of one image, in bytes.
    func allocation() throws -> Int {
        let usage = try DirectoryUsage(of: daemon.directory)
        return usage.bytes / usage.entries
    }

    /// Makes all images those that were fetched long ago.
    func makeOld() async throws {
        for url in urls { try await daemon.makeOld(url) }
    }

    /// Evicts until `count` images are left.
    func evict(to count: Int) async throws {
        let bytes = try allocation() * count
        let answer = try await daemon.ask(call("Evict", parameters: #""toBytes":\#(bytes)"#))
        #expect(answer.error == nil)
    }

    /// Lets another program read an image, without a call to the daemon.
    func read(_ number: Int) async throws {
        try await runSuccessfully("cat", [try path(number)])
    }

    /// When an image was last used according to its file, in nanoseconds. stat(2), `st_atim`
    func lastUse(_ number: Int) throws -> Int {
        var status = stat()
        guard lstat(try path(number), &status) == 0 else {
            throw TestFailure("image \(number) does not exist")
        }
        return status.st_atim.tv_sec * 1_000_000_000 + status.st_atim.tv_nsec
    }

    /// Starts another daemon after the one that was stopped.
    func restarted() async throws -> FilledCache {
        var other = self
        other.daemon = try await daemon.restart()
        try await other.daemon.waitForScan()
        return other
    }

    /// Starts another daemon after an orderly stop or a crash.
    mutating func restart(afterCrash: Bool = false) async throws {
        daemon = try await daemon.replace(afterCrash: afterCrash)
        try await daemon.waitForScan()
    }
}

extension DaemonFixture {
    /// Makes an image one that was fetched long ago, so that pressure does not spare it.
    func makeOld(_ url: String) async throws {
        let path = try path(url)
        // What is written behind would write the true time again.
        _ = try await ExtendedAttributes.all(of: path)
        let bytes = try #require(size(at: path))
        try ExtendedAttributes(of: path).set(
            try recordName(url), DiskRecord.bytes(size: bytes, fetched: 1_000_000_000))
    }
}
