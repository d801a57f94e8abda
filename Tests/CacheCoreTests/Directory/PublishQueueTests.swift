import CacheKey
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheModel

@Suite("Publisher", .timeLimit(.minutes(5)))
struct PublishQueueTests {
    private static func names(_ prefix: String, _ count: Int = GroupCommitPolicy.manyFiles)
        -> [String]
    {
        (0..<count).map { "\(prefix)\($0)" }
    }

    private static func keys(_ names: [String]) -> [CacheKey] { names.map { Sample.key($0) } }

    @Test func theNextBatchIsPreparedWhileOneIsCommitted() async throws {
        try await withTestScope { scope in
            let writes = FaultPlan(.write, nth: .max, .noSpace)
            let folder = try CacheFolder(in: scope, faults: writes)
            let before = writes.seen
            let record = CommitRecord()
            let (first, second) = (Self.names("a"), Self.names("b"))
            try await offPool {
                let publisher = PublishQueue(directory: folder.directory, owner: record.owner)
                var images = first.map { folder.held($0) }
                publisher.prepare(&images)
                #expect(images.isEmpty)
                publisher.commitBeside()
                #expect(publisher.mayGather(files: 1) && publisher.mayGrow)
                images = second.map { folder.held($0) }
                publisher.prepare(&images)
                #expect(record.published.isEmpty)
                #expect(writes.seen == before + first.count + second.count)
                record.letThrough()
                record.letThrough()
                publisher.commit()
                #expect(record.published == [Self.keys(first), Self.keys(second)])
                #expect(!publisher.isCommitting)
                publisher.finish()
            }
            #expect(try folder.names() == Self.keys(first + second).map { "\($0)" }.sorted())
        }
    }

    @Test func whatSomebodyWaitsForIsCommittedAsSoonAsTheLastCommitIsThrough() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let record = CommitRecord()
            let (first, second) = (Self.names("a"), Self.names("b"))
            try await offPool {
                let publisher = PublishQueue(directory: folder.directory, owner: record.owner)
                func prepare(_ names: [String]) {
                    var images = names.map { folder.held($0) }
                    publisher.prepare(&images, awaited: 0)
                }
                prepare(first)
                // Its images have their names, and wait to be let through.
                while publisher.isCommitting { sched_yield() }
                #expect(record.published.isEmpty)
                prepare(second)
                #expect(publisher.isCommitting, "the next is under way")
                for _ in 0..<2 { record.letThrough() }
                publisher.commit()
                #expect(record.published == [Self.keys(first), Self.keys(second)])
                publisher.finish()
            }
        }
    }

    /// Commits of many in a row begin an interval apart, however quick they are.
    @Test func whatComesAfterACommitGathersForTheNext() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let record = CommitRecord()
            try await offPool {
                let publisher = PublishQueue(directory: folder.directory, owner: record.owner)
                var images = Self.names("a").map { folder.held($0) }
                #expect(!publisher.mayGather(files: images.count), "nothing was committed yet")
                let start = ContinuousClock.now
                publisher.prepare(&images, awaited: 0)
                while publisher.isCommitting { sched_yield() }
                let mayGrow = publisher.mayGrow
                #expect(mayGrow || ContinuousClock.now - start >= GroupCommitPolicy.interval)
                while publisher.mayGrow { sched_yield() }
                #expect(ContinuousClock.now - start >= GroupCommitPolicy.interval)
                record.letThrough()
                publisher.commit()
                publisher.finish()
            }
        }
    }

    /// The last of many in a row has nothing after it that would settle it.
    @Test(arguments: [true, false])
    func whatHasItsNameBecomesAnEntryWhateverComes(isLast: Bool) async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let record = CommitRecord()
            let groups = ["a", "b", "c"].map { Self.names($0) }
            for _ in groups { record.letThrough() }
            try await offPool {
                let publisher = PublishQueue(directory: folder.directory, owner: record.owner)
                for names in groups {
                    var images = names.map { folder.held($0) }
                    publisher.prepare(&images)
                    publisher.commitBeside()
                }
                // Nothing is left of it, but the names.
                if isLast { publisher.commitBeside(isLast: true) }
                publisher.finish()
            }
            #expect(record.published == groups.map(Self.keys))
        }
    }

    /// Nobody waits for it to grow while images are published. proc(5), `FDSize`
    @Test func theTableOfDescriptorsHasRoomFromTheStart() async throws {
        guard try DescriptorLimit.raised() > 3 * PublishQueue.largestBatch else { return }
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            PublishQueue(directory: folder.directory, owner: CommitRecord().owner).finish()
            let status = String(decoding: try contents(of: "/proc/self/status"), as: UTF8.self)
            let size = try #require(status.firstMatch(of: /FDSize:\s+(\d+)/)?.output.1)
            #expect(try #require(Int(size)) > 3 * PublishQueue.largestBatch)
        }
    }

    @Test func whatIsFewIsCommittedAtOnce() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let record = CommitRecord()
            try await offPool {
                let publisher = PublishQueue(directory: folder.directory, owner: record.owner)
                var images = [folder.held("a")]
                publisher.prepare(&images)
                record.letThrough()
                publisher.commitBeside()
                #expect(record.published == [[Sample.key("a")]])
                publisher.commit()
                #expect(record.published.count == 1, "there was nothing left")
                publisher.finish()
            }
        }
    }

    /// Those of the batch before may go for it, once they are entries.
    @Test func onAFullDiskTheCommitUnderWayIsWaitedFor() async throws {
        try await withTestScope { scope in
            let none = FaultPlan(.write, nth: .max, .noSpace)
            _ = try CacheFolder(in: scope, faults: none)
            let nth = none.seen + GroupCommitPolicy.manyFiles + 1
            let folder = try CacheFolder(
                in: scope, faults: FaultPlan(.write, nth: nth, .noSpace, times: 2))
            let record = CommitRecord()
            let first = Self.names("a")
            async let published: Void = offPool {
                let publisher = PublishQueue(directory: folder.directory, owner: record.owner)
                var images = first.map { folder.held($0) }
                publisher.prepare(&images)
                publisher.commitBeside()
                images = [folder.held("b")]
                publisher.prepare(&images)
                publisher.commit()
                publisher.finish()
            }
            try await waitUntil("room to be asked for") { !record.roomRequests.isEmpty }
            for _ in 0..<2 { record.letThrough() }
            try await published
            #expect(record.roomRequests == [0, 1])
            #expect(record.published == [Self.keys(first), Self.keys(["b"])])
        }
    }

    @Test func aFullBatchIsCommittedBesideWhatComesNext() async throws {
        try await withTestScope { scope in
            let writes = FaultPlan(.write, nth: .max, .noSpace)
            let folder = try CacheFolder(in: scope, faults: writes)
            let before = writes.seen
            let record = CommitRecord()
            let names = Self.names("a", PublishQueue.largestBatch)
            try await offPool {
                let publisher = PublishQueue(directory: folder.directory, owner: record.owner)
                var images = (names + ["b"]).map { folder.held($0) }
                publisher.prepare(&images)
                #expect(images.isEmpty && record.published.isEmpty)
                #expect(writes.seen == before + names.count + 1)
                for _ in 0..<2 { record.letThrough() }
                publisher.commit()
                #expect(record.published == [Self.keys(names), Self.keys(["b"])])
                publisher.finish()
            }
        }
    }

    @Test func aBatchIsNeverLargerThanItMayBe() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let record = CommitRecord()
            let names = Self.names("a", 2 * PublishQueue.largestBatch + 1)
            try await offPool {
                let publisher = PublishQueue(directory: folder.directory, owner: record.owner)
                for _ in 0..<3 { record.letThrough() }
                var images = names.map { folder.held($0) }
                publisher.prepare(&images)
                publisher.commit()
                publisher.finish()
            }
            #expect(
                record.published.map(\.count) == [
                    PublishQueue.largestBatch, PublishQueue.largestBatch, 1,
                ])
            #expect(record.published.flatMap(\.self) == Self.keys(names))
        }
    }
}
