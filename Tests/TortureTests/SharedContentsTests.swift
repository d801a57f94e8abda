import CacheKey
import CacheWire
import Glibc
import TestSupport
import Testing

/// Names of one file come and go in every way, and the cache counts what the disk holds.
@Suite("Shared contents", .serialized, .timeLimit(.minutes(30)))
struct SharedContentsTests {
    private static let images = 40
    private static let urls = 400

    private enum Operation: CaseIterable {
        case fetch, remove, pin, unpin, evict, unlink, replace, link, restart
    }

    @Test func theFiguresAreThoseOfTheDisk() async throws {
        try await Promise("shared contents are counted once").test { figures in
            try await withTestScope { scope in
                var random = SeededGenerator(seed: testSeed)
                let origin = try origin(in: scope)
                var cache = FaultyDaemon(try await DaemonFixture.start(in: scope), origin)
                let wanted = isLongForm ? 100_000 : 1500
                var done = 0
                while done < wanted {
                    for _ in 0..<20 {
                        done += try await operate(&cache, &random)
                    }
                    try await cache.expectLedgerMatchesDisk()
                }
                try await expectRight(cache)
                figures.append("\(done) operations")
            }
        }
    }

    /// Each content is that of ten URLs.
    private func origin(in scope: TestScope) throws -> ScriptedOrigin {
        let origin = try ScriptedOrigin(in: scope)
        for number in 0..<Self.images {
            let image = SampleImage.png(byteCount: 200 + number * 500, seed: number)
            origin.route("/\(number).png", .answer(body: image))
        }
        return origin
    }

    private func url(_ number: Int, _ cache: FaultyDaemon) -> String {
        cache.origin.url("/\(number % Self.images).png?\(number / Self.images)")
    }

    private func some(_ cache: FaultyDaemon, _ random: inout SeededGenerator) -> [String] {
        (0..<Int.random(in: 1...10, using: &random)).map { _ in
            url(Int.random(in: 0..<Self.urls, using: &random), cache)
        }
    }

    /// Returns how many names it was done to.
    private func operate(
        _ cache: inout FaultyDaemon, _ random: inout SeededGenerator
    ) async throws -> Int {
        let urls = some(cache, &random)
        let paths = try urls.map { try cache.path($0) }
        var operation = Operation.allCases.randomElement(using: &random) ?? .fetch
        if operation == .restart, Int.random(in: 0..<20, using: &random) > 0 { operation = .fetch }
        switch operation {
        case .fetch: try await fetch(urls, cache)
        case .remove: _ = try await cache.call(Methods.Remove.self, .init(urls: urls))
        case .pin: _ = try await cache.call(Methods.Pin.self, .init(urls: urls, pinned: true))
        case .unpin: _ = try await cache.call(Methods.Pin.self, .init(urls: urls, pinned: false))
        case .evict:
            let bytes = try await cache.metric("bytesUsed")
            _ = try await cache.call(
                Methods.Evict.self, .init(toBytes: bytes * 9 / 10))
        case .unlink: for path in paths { unlink(path) }
        case .replace:
            // Another program puts a file of its own in the place of an entry. It is no entry until a fetch replaces
            // it.
            for path in paths {
                unlink(path)
                try write(SampleImage.png(byteCount: 700, seed: 999), to: path)
            }
            try await fetch(urls, cache)
        case .link:
            // A name without a record of its own.
            for path in paths.dropFirst() { link(paths[0], path) }
            try await fetch(urls, cache)
        case .restart:
            cache = FaultyDaemon(
                try await cache.daemon.replace(afterCrash: true), cache.origin)
        }
        return urls.count
    }

    private func fetch(_ urls: [String], _ cache: FaultyDaemon) async throws {
        for item in try await cache.fetch(urls) where item.state != .cached {
            throw TestFailure("\(item)")
        }
    }

    /// Every entry has the right bytes.
    private func expectRight(_ cache: FaultyDaemon) async throws {
        let urls = (0..<Self.urls).map { url($0, cache) }
        for (number, item) in try await cache.fetch(urls).enumerated() {
            #expect(item.state == .cached)
            let content = number % Self.images
            let image = SampleImage.png(byteCount: 200 + content * 500, seed: content)
            #expect(try contents(of: try cache.path(item.url)) == image)
        }
        try await cache.expectLedgerMatchesDisk()
    }
}

private func write(_ bytes: [UInt8], to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o644)
    guard file >= 0 else { throw TestFailure("\(path) could not be created") }
    defer { close(file) }
    guard Glibc.write(file, bytes, bytes.count) == bytes.count else {
        throw TestFailure("\(path) could not be written")
    }
}

extension FaultyDaemon {
    fileprivate func path(_ url: String) throws -> String {
        "\(daemon.directory)/\(CacheKey(try CacheURL(url)))"
    }
}
