import CacheKey
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore

/// Bytes that the kernel took and could not write: whose sync meets them first hears of it, and no other.
@Suite("Lost writes", .timeLimit(.minutes(5)))
struct LostWritesTests {
    private static let obstacle = LoopFileSystem.obstacle

    /// What one batch has written is met by the sync of the batch before, which fails.
    @Test(
        .enabled(if: obstacle == nil, "\(obstacle ?? "")"),
        arguments: [SyncPace.Choice.fileSystem, .eachFile])
    func whatTheSyncOfAnotherBatchLostIsNotPublished(sync: SyncPace.Choice) async throws {
        try await withTestScope { scope in
            let disk = try await ThinFileSystem(bytes: 16 << 20, in: scope)
            let folder = try CacheFolder(at: disk.path + "/cache")
            try await disk.loseWrites()
            let names = ["a", "b"].map { prefix in (0..<40).map { "\(prefix)\($0)" } }
            var batches = [PublicationBatch(), PublicationBatch()]
            for (index, names) in names.enumerated() {
                let images = names.map { folder.held($0) }
                let count = folder.directory.prepare(
                    images[...], for: &batches[index], now: .now, makeRoom: { _, _ in false })
                #expect(count == images.count)
            }
            for (index, choice) in [SyncPace.Choice.fileSystem, sync].enumerated() {
                let published = folder.directory.commit(
                    batches[index], sync: choice, makeRoom: { _, _ in false })
                let lost = zip(names[index], published).filter { $1.failure != nil }.map(\.0)
                #expect(!lost.isEmpty, "nothing is shown")
                for name in names[index] {
                    let isThere = folder.status(folder.file(name)) != nil
                    #expect(isThere == !lost.contains(name), "\(name)")
                    guard isThere else { continue }
                    let bytes = try Self.stored(folder.file(name))
                    #expect(bytes == Array("image".utf8), "\(name)")
                }
            }
        }
    }

    /// What of a file is on the disk. posix_fadvise(2)
    private static func stored(_ path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw TestFailure("\(path) can't be opened") }
        defer { close(file) }
        posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
        return try contents(of: path)
    }

    /// Neither the sync of the directory nor the removal of what may not survive succeeds.
    @Test func whatMayNotSurviveAndCannotBeRemovedIsNoEntry() async throws {
        try await withTestScope { scope in
            // The cache syncs its directory when it opens it; then the image, the directory, the image.
            let faults = FaultPlan(
                .fsync, nth: 3, .ioError, times: 3,
                besides: FaultPlan(.unlinkat, nth: 1, .ioError, times: 2))
            let fixture = try CacheFixture(in: scope, faults: faults)
            let image = SampleImage.png(byteCount: 3000)
            fixture.origin.route("/a.png", .answer(headers: ["ETag": "\"1\""], body: image))
            let failures = try await fixture.fetch("/a.png").failures
            #expect(failures.values.map(\.kind) == [.storage])
            #expect(try contents(of: fixture.file("/a.png")) == image, "it is there, for now")
            #expect(try !fixture.lookup("/a.png").isCached)
            fixture.cache.startScan()
            fixture.cache.waitForScan()
            #expect(try !fixture.lookup("/a.png").isCached)
            let questions = fixture.origin.requests().compactMap { $0.headers["If-None-Match"] }
            #expect(questions.isEmpty, "what is no entry can't be confirmed")
            // A later download takes its place.
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try fixture.lookup("/a.png").isCached)
        }
    }
}
