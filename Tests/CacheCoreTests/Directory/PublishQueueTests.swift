import CacheKey
import CacheSamples
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

@Suite("Publish queue", .timeLimit(.minutes(5)))
struct PublishQueueTests {
    private static func names(
        _ prefix: String, _ count: Int = GroupCommitPolicy.manyFiles
    ) -> [String] {
        (0..<count).map { "\(prefix)\($0)" }
    }

    private static func keys(_ names: [String]) -> [CacheKey] { names.map { Sample.key($0) } }

    /// The paths of all files that this process has open. proc(5), `fd`
    private static func openFiles() -> [String] {
        (0..<4096).compactMap { descriptor in
            var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
            let count = bytes.withUnsafeMutableBytes {
                readlink("/proc/self/fd/\(descriptor)", $0.baseAddress!, $0.count)
            }
            return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
        }
    }

    /// Runs `body` on a thread of its own with a queue for a folder, and ends the queue.
    private func withQueue(
        _ folder: CacheFolder, _ record: CommitRecord,
        _ body: @escaping @Sendable (PublishQueue) throws -> Void
    ) async throws {
        try await offPool {
            let queue = PublishQueue(directory: folder.directory, delegate: record)
            defer { queue.finish() }
            try body(queue)
        }
    }

    private static func add(_ names: [String], to queue: PublishQueue, of folder: CacheFolder) {
        for name in names { queue.add(folder.held(name)) }
        queue.prepare()
    }

    @Test func theNextBatchIsPreparedWhileOneIsCommitted() async throws {
        try await withTestScope { scope in
            let writes = FaultPlan(.write, nth: .max, .noSpace)
            let folder = try CacheFolder(in: scope, faults: writes)
            let before = writes.seen
            let record = CommitRecord()
            let (first, second) = (Self.names("a"), Self.names("b"))
            try await withQueue(folder, record) { queue in
                Self.add(first, to: queue, of: folder)
                queue.startCommit()
                queue.startGathering(files: 1)
                #expect(queue.isGathering)
                Self.add(second, to: queue, of: folder)
                #expect(record.published.isEmpty)
                #expect(writes.seen == before + first.count + second.count)
                record.letThrough()
                record.letThrough()
                queue.commitAll()
                #expect(record.published == [Self.keys(first), Self.keys(second)])
                #expect(!queue.isCommitting)
            }
            #expect(try folder.names() == Self.keys(first + second).map { "\($0)" }.sorted())
        }
    }

    @Test func aBatchThatIsDueIsCommittedBeforeAllImagesArePrepared() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let record = CommitRecord()
            let names = Self.names("a", 2 * PublishQueue.stretch)
            try await withQueue(folder, record) { queue in
                for _ in 0..<2 { record.letThrough() }
                Self.add(names, to: queue, of: folder)
                queue.commitAll()
            }
            #expect(record.published.first?.count == PublishQueue.stretch)
            #expect(record.published.flatMap(\.self) == Self.keys(names))
        }
    }

    /// Commits of many images in a row start an interval apart, however fast they are.
    @Test func imagesAfterACommitGatherForTheNextOne() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let record = CommitRecord()
            try await withQueue(folder, record) { queue in
                queue.startGathering(files: GroupCommitPolicy.manyFiles)
                #expect(!queue.isGathering, "there was no commit yet")
                let start = ContinuousClock.now
                record.letThrough()
                Self.add(Self.names("a"), to: queue, of: folder)
                while queue.isCommitting { sched_yield() }
                while queue.isGathering { sched_yield() }
                #expect(ContinuousClock.now - start >= GroupCommitPolicy.interval)
            }
        }
    }

    /// A change of a file that is open would be taken for that of another program.
    @Test(arguments: [1, GroupCommitPolicy.manyFiles])
    func theFilesOfABatchAreClosedBeforeItIsReported(count: Int) async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let record = CommitRecord { [path = folder.path + "/"] in
                let open = Self.openFiles().filter { $0.hasPrefix(path) }
                #expect(open == [path + ".lock"])
            }
            record.letThrough()
            try await withQueue(folder, record) { queue in
                Self.add(Self.names("a", count), to: queue, of: folder)
                queue.commitAll()
            }
            #expect(record.published.map(\.count) == [count])
        }
    }

    /// The table never has to grow while images are published. proc(5), `FDSize`
    @Test func theTableOfDescriptorsHasRoomFromTheStart() async throws {
        guard try DescriptorLimit.raised() > PublishQueue.largestBacklog else { return }
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            try await withQueue(folder, CommitRecord()) { _ in }
            let status = String(decoding: try contents(of: "/proc/self/status"), as: UTF8.self)
            let size = try #require(status.firstMatch(of: /FDSize:\s+(\d+)/)?.output.1)
            #expect(try #require(Int(size)) > PublishQueue.largestBacklog)
        }
    }

    @Test func aFewImagesAreCommittedAtOnce() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let record = CommitRecord()
            try await withQueue(folder, record) { queue in
                Self.add(["a"], to: queue, of: folder)
                record.letThrough()
                queue.startCommit()
                #expect(record.published == [[Sample.key("a")]])
                queue.commitAll()
                #expect(record.published.count == 1, "nothing was left to commit")
            }
        }
    }

    /// The images before can be evicted for the one that found the disk full, once they are entries.
    @Test func onAFullDiskTheRunningCommitIsAwaited() async throws {
        try await withTestScope { scope in
            let none = FaultPlan(.write, nth: .max, .noSpace)
            _ = try CacheFolder(in: scope, faults: none)
            let nth = none.seen + GroupCommitPolicy.manyFiles + 1
            let folder = try CacheFolder(
                in: scope, faults: FaultPlan(.write, nth: nth, .noSpace, times: 2))
            let record = CommitRecord()
            let first = Self.names("a")
            async let published: Void = withQueue(folder, record) { queue in
                Self.add(first, to: queue, of: folder)
                queue.startCommit()
                queue.add(folder.held("b"))
                queue.commitAll()
            }
            try await waitUntil("a request for room") { !record.roomRequests.isEmpty }
            for _ in 0..<2 { record.letThrough() }
            try await published
            #expect(record.roomRequests == [0, 1])
            #expect(record.published == [Self.keys(first), Self.keys(["b"])])
        }
    }

    @Test func aFullBatchIsCommittedBesideTheNextOne() async throws {
        try await withTestScope { scope in
            let writes = FaultPlan(.write, nth: .max, .noSpace)
            let folder = try CacheFolder(in: scope, faults: writes)
            let before = writes.seen
            let record = CommitRecord()
            let (first, names) = (Self.names("f"), Self.names("a", PublishQueue.largestBatch))
            try await withQueue(folder, record) { queue in
                // While this one is committed, the next batch gathers.
                Self.add(first, to: queue, of: folder)
                queue.startCommit()
                Self.add(Array(names.dropLast()), to: queue, of: folder)
                #expect(record.published.isEmpty)
                record.letThrough()
                Self.add([names.last!, "b"], to: queue, of: folder)
                #expect(record.published == [Self.keys(first)])
                #expect(writes.seen == before + first.count + names.count + 1)
                for _ in 0..<2 { record.letThrough() }
                queue.commitAll()
                #expect(
                    record.published == [Self.keys(first), Self.keys(names), Self.keys(["b"])])
            }
        }
    }

    @Test func noBatchIsLargerThanTheLimit() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let record = CommitRecord()
            let names = Self.names("a", 2 * PublishQueue.largestBatch + 1)
            try await withQueue(folder, record) { queue in
                for _ in 0..<names.count { record.letThrough() }
                Self.add(names, to: queue, of: folder)
                queue.commitAll()
            }
            #expect(record.published.allSatisfy { $0.count <= PublishQueue.largestBatch })
            #expect(record.published.flatMap(\.self) == Self.keys(names))
        }
    }
}
