import CLinux
import CacheKey
import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// A verification disturbs no other client, does not change the order of use, and tolerates files being
/// replaced.
@Suite("Verify", .serialized, .timeLimit(.minutes(10)))
struct VerifyTests {
    @Test func filesChangedDuringVerificationAreNotReportedAsDamaged() async throws {
        try await Promise("a file replaced or removed while it is read is not damaged").test {
            figures in
            try await withTestScope { scope in
                let fixture = try await FilledDirectory(
                    Array(repeating: 200_000, count: 40), in: scope)
                let copies = try fixture.elsewhere.directory("copies")
                try await runSuccessfully("cp", ["-a", fixture.directory + "/.", copies])
                let end = ContinuousClock.now + .seconds(isLongForm ? 60 : 3)
                let churn = Task {
                    var rounds = 0
                    while ContinuousClock.now < end {
                        let number = rounds % fixture.urls.count
                        try await Self.disturb(fixture, number, copies, round: rounds)
                        rounds += 1
                    }
                    return rounds
                }
                var verifications = 0
                while ContinuousClock.now < end {
                    let report = try await fixture.verify()
                    #expect(report.damagedCount == 0, "\(report.damaged)")
                    verifications += 1
                }
                figures += ["\(try await churn.value) changes", "\(verifications) verifications"]
            }
        }
    }

    /// Removes, replaces or refreshes an image.
    private static func disturb(
        _ fixture: FilledDirectory, _ number: Int, _ copies: String, round: Int
    ) async throws {
        let path = try fixture.path(number)
        let name = String(path.suffix(CacheKey.nameLength))
        switch round % 3 {
        case 0:
            unlink(path)
            _ = try await fixture.fetch(number)
        case 1:
            let fresh = "\(copies)/\(name).fresh"
            try await runSuccessfully("cp", ["-a", "\(copies)/\(name)", fresh])
            try #require(rename(fresh, path) == 0)
        default:
            let parameters = Methods.Fetch.Parameters(urls: [fixture.urls[number]], refresh: true)
            _ = try await fixture.ask(Methods.Fetch.self, parameters)
        }
    }

    @Test func verificationDoesNotCountAsUse() async throws {
        try await Promise("a verification does not count as use").test { _ in
            try await withTestScope { scope in
                var fixture = try await FilledDirectory(
                    Array(repeating: 8000, count: 12), in: scope)
                for number in [5, 2] { _ = try await fixture.fetch(number) }
                try await fixture.restart()
                try await fixture.waitForScan()
                let before = try fixture.urls.indices.map { try Self.lastUse(fixture, $0) }
                let order = try await fixture.ask(Methods.List.self, .init()).items.map(\.key)
                #expect(try await fixture.verify().checked == 12)
                #expect(try await fixture.ask(Methods.List.self, .init()).items.map(\.key) == order)
                try await fixture.restart()
                try await fixture.waitForScan()
                #expect(try fixture.urls.indices.map { try Self.lastUse(fixture, $0) } == before)
                #expect(try await fixture.ask(Methods.List.self, .init()).items.map(\.key) == order)
            }
        }
    }

    private static func lastUse(_ fixture: FilledDirectory, _ number: Int) throws -> Int {
        var status = stat()
        try #require(lstat(try fixture.path(number), &status) == 0)
        return status.st_atim.tv_sec * 1_000_000_000 + status.st_atim.tv_nsec
    }

    @Test func verificationEndsWithItsCaller() async throws {
        try await Promise("a verification ends with its caller").test { _ in
            try await withTestScope { scope in
                let fixture = try await FilledDirectory([900], in: scope)
                try Self.makeLong(fixture)
                let connection = try fixture.daemon.connect()
                let call = #"{"method":"io.cached.Cache.Verify","parameters":{},"more":true}"#
                let first = try await connection.call(call)
                #expect(first.contains(#""continues":true"#) && first.contains(#""total":2"#))
                try await waitUntil("the reading to start") { try Self.isReading(fixture) }
                // The next call ends the stream, and is answered.
                try await connection.send(
                    #"{"method":"io.cached.Cache.Status","parameters":{"urls":[]}}"# + "\0")
                var replies: [String] = []
                repeat {
                    replies.append(try await connection.receiveText())
                } while !replies[
                    replies.endIndex - 1
                ].contains("items")
                #expect(replies.dropLast().last?.contains("continues") == false)
                try await waitUntil("the reading to end") {
                    try !Self.isReading(fixture)
                }
                // Closing the connection ends the verification too.
                try await connection.send(call + "\0")
                try await waitUntil("the reading to start") { try Self.isReading(fixture) }
                connection.shutdown()
                try await waitUntil("the reading to end") {
                    try !Self.isReading(fixture)
                }
                // Stopping the daemon ends it too.
                let last = try fixture.daemon.connect()
                try await last.send(call + "\0")
                try await waitUntil("the reading to start") { try Self.isReading(fixture) }
                try await fixture.daemon.stop()
            }
        }
    }

    @Test func statusIsFastDuringVerification() async throws {
        try await Promise("a status call takes at most 10 ms during a verification").test {
            figures in
            try await withTestScope { scope in
                let fixture = try await FilledDirectory(
                    Array(repeating: 60_000, count: 100), in: scope)
                try Self.makeLong(fixture)
                let quiet = try await Self.p99Latency(fixture)
                let connection = try fixture.daemon.connect()
                try await connection.send(
                    #"{"method":"io.cached.Cache.Verify","parameters":{},"more":true}"# + "\0")
                try await waitUntil("the reading to start") { try Self.isReading(fixture) }
                let busy = try await Self.p99Latency(fixture)
                #expect(try Self.isReading(fixture))
                connection.shutdown()
                // If other programs keep the machine busy, the quiet measurement was slow already.
                #expect(busy < max(.milliseconds(10), quiet * 5))
                figures += ["p99 \(busy)", "before \(quiet)"]
            }
        }
    }

    private static let long = "http://long.example/a.png"

    /// Creates a sparse entry of 64 GB, which takes longer to read than any test.
    private static func makeLong(_ fixture: FilledDirectory) throws {
        let path = try fixture.path(long)
        let size = 64_000_000_000
        try writeFile([], to: path)
        try #require(truncate(path, size) == 0)
        let attributes = ExtendedAttributes(of: path)
        try attributes.set("user.cached.sha256", String(repeating: "0", count: 64))
        try attributes.set("user.mime_type", "image/png")
        let name = try FilledDirectory.recordName(long)
        try attributes.set(name, DiskRecord.bytes(size: size, fetched: 1_790_000_000))
    }

    /// Whether the daemon has the long entry open. proc(5), `fd`.
    private static func isReading(_ fixture: FilledDirectory) throws -> Bool {
        let (path, folder) = (try fixture.path(long), "/proc/\(fixture.daemon.process.pid)/fd")
        return try FileManager.default.contentsOfDirectory(atPath: folder).contains { file in
            // A descriptor can be closed between the two calls.
            let target = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "\(folder)/\(file)")
            return target == path
        }
    }

    private static func p99Latency(_ fixture: FilledDirectory) async throws -> Duration {
        try await fixture.daemon.p99Latency(of: fixture.urls, .cached) { _, count in
            count >= (isLongForm ? 20_000 : 2000)
        }
    }
}
