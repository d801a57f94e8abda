import CacheKey
import CacheValues
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Bytes that the kernel accepted and could not write. Only the first sync that meets them reports the loss.
@Suite("Lost writes", .timeLimit(.minutes(5)))
struct LostWritesTests {
    /// The sync of the batch before can meet the bytes of this one and report their loss. The next sync then finds
    /// nothing left to write, and succeeds.
    @Test func anImageWhoseLossOnlyItsOwnFileReportsIsNotPublished() async throws {
        for nth in 1...3 {
            try await withTestScope { scope in
                let faults = FaultPlan(.syncFileRange, nth: nth, .ioError)
                let folder = try CacheFolder(in: scope, faults: faults)
                let names = ["a", "b", "c"]
                let published = folder.directory.publish(
                    names.map { folder.held($0) }, now: .now, sync: .fileSystem)
                #expect(faults.hasStruck)
                for (index, name) in names.enumerated() {
                    let isLost = index == nth - 1
                    #expect((published[index].failure?.kind == .storage) == isLost)
                    #expect((folder.status(folder.file(name)) == nil) == isLost)
                    #expect(folder.status(folder.partial(name)) == nil)
                }
            }
        }
    }

    /// Neither the sync of the directory nor the removal of the file succeeds.
    @Test func aFileThatMayNotSurviveAndCannotBeRemovedIsNoEntry() async throws {
        try await withTestScope { scope in
            // The first sync is that of the directory, when it is opened. Then come the image, the directory and the
            // image. The first unlink removes the name that opening has tried.
            let faults = FaultPlan(
                .fsync, nth: 3, .ioError, times: 3,
                and: FaultPlan(.unlinkat, nth: 2, .ioError, times: 2))
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
