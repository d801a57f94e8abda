import CLinux
import CacheKey
import CacheWire
import Glibc
import TestSupport
import Testing

/// A daemon that has just started answers correctly at once, and never slowly.
@Suite("First scan", .serialized, .timeLimit(.minutes(10)))
struct FirstScanTests {
    private static let count = isLongForm ? 100_000 : 3000

    @Test func theFirstReplyIsCorrectAndNoReplyIsSlow() async throws {
        try await Promise("the first reply is correct, and the scan delays none").test { figures in
            try await withTestScope { scope in
                var random = SeededGenerator(seed: testSeed)
                var fixture = try await FilledDirectory([900], in: scope)
                let urls = try Self.copies(in: fixture)
                for round in 0..<(isLongForm ? 10 : 2) {
                    fixture.daemon = try await fixture.daemon.replace(afterCrash: round % 2 == 0)
                    // The socket exists, and the scan can be at any point.
                    let asked = (0..<50).map { _ in urls.randomElement(using: &random) ?? "" }
                    let missing = asked.map { $0 + "?missing" }
                    #expect(try await fixture.status(asked).allSatisfy { $0.state == .cached })
                    #expect(try await fixture.status(missing).allSatisfy { $0.state == .missing })
                    let slowest = try await fixture.daemon.p99Latency(of: urls, .cached) {
                        client, _ in
                        try client.call(Methods.Stats.self, .init()).stats["isIndexed"] == true
                    }
                    // The short form runs unoptimised programs; sanitized ones are slower still.
                    #expect(slowest < .milliseconds(isSanitized ? 500 : isLongForm ? 10 : 50))
                    figures.append("p99 \(slowest)")
                    #expect(try await fixture.stats()["entries"] == .int(Self.count + 1))
                    #expect(try await fixture.listed().count == 1000)
                }
                #expect(fixture.origin.requests().count == 1)
                figures.append("\(Self.count) entries")
            }
        }
    }

    /// During the scan the daemon does not know the total yet.
    @Test func pressureDuringTheScanEvictsAShareOfAllEntries() async throws {
        try await withTestScope { scope in
            var fixture = try await FilledDirectory([900], in: scope)
            _ = try Self.copies(in: fixture)
            try await fixture.restart()
            // A warning would spare them, because they were made just now.
            fixture.daemon.process.signal(SIGUSR2)
            try await waitUntil("the reaction") {
                try await fixture.stats()["pressureReactions"] == .int(1)
            }
            guard case .int(let entries) = try await fixture.stats()["entries"] else {
                throw TestFailure("there is no number of entries")
            }
            #expect(entries >= Self.count * 45 / 100 && entries <= Self.count * 55 / 100)
        }
    }

    @Test(
        .disabled(
            if: isSanitized, "a sanitizer needs most of the processor time and memory"))
    func theScanCostsLittleMoreThanReadingTheDirectory() async throws {
        try await Promise("a scan costs little more than reading the directory").test { figures in
            try await withTestScope { scope in
                var fixture = try await FilledDirectory([900], in: scope)
                _ = try Self.copies(in: fixture)
                let before = try Self.memory(fixture.daemon)
                try await fixture.restart()
                let started = try ProcessUsage(of: fixture.daemon.process.pid).processorTime
                try await fixture.waitForScan()
                let scan = try ProcessUsage(of: fixture.daemon.process.pid).processorTime - started
                let peak = try Self.memory(fixture.daemon)
                let bare = try Self.walk(fixture.directory)
                // The program is unoptimised, and the calls of this test are included; `make bench` measures
                // the release build.
                #expect(scan < bare * 20 + .milliseconds(200))
                #expect(peak - before < Self.count * 400 + 8_000_000)
                figures += [
                    "\(scan) for \(Self.count)", "bare \(bare)", "\(peak - before) B of memory",
                ]
            }
        }
    }

    /// Creates entries of URLs that were never fetched: copies of an image, with their own records.
    private static func copies(in fixture: FilledDirectory) throws -> [String] {
        let attributes = ExtendedAttributes(of: try fixture.path(0))
        let record = try #require(try attributes.bytes(of: try fixture.recordName(0)))
        return try (0..<count).map { number in
            let url = "http://copies.example/\(number).png"
            let path = try fixture.path(url)
            try writeFile(fixture.images[0], to: path)
            try ExtendedAttributes(of: path).set(try FilledDirectory.recordName(url), record)
            return url
        }
    }

    /// The peak memory of a process, in bytes. proc(5), `VmHWM`.
    private static func memory(_ daemon: DaemonFixture) throws -> Int {
        try ProcessUsage.status("VmHWM", of: daemon.process.pid) * 1024
    }

    /// The processor time of a loop of readdir(3), fstatat(2) and one lgetxattr(2).
    private static func walk(_ path: String) throws -> Duration {
        let stream = try #require(opendir(path))
        defer { closedir(stream) }
        let start = clock()
        var facts = stat()
        var value = [UInt8](repeating: 0, count: 4096)
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            _ = fstatat(dirfd(stream), name, &facts, AT_SYMLINK_NOFOLLOW)
            let attribute = "user.cached." + name.prefix(8)
            _ = lgetxattr("\(path)/\(name)", attribute, &value, value.count)
        }
        return .microseconds(clock() - start)
    }
}
