import CacheSamples
import CacheValues
import Glibc
import Logging
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

@Suite("DirectoryWorker", .timeLimit(.minutes(5)))
struct DirectoryWorkerTests {
    /// A job behind publications waits for their commit. A job beside them does not.
    @Test func evictionsGoOnBesideACommit() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let record = CommitRecord()
            let worker = DirectoryWorker(
                directory: folder.directory, logger: Logger(label: "test"))
            worker.start(record)
            let (busy, beside, behind) = (Flag(), Flag(), Flag())
            // Keeps the worker busy, so that it takes all of the following jobs together.
            let ready = Latch()
            worker.enqueue(
                .run {
                    busy.raise()
                    ready.wait()
                })
            try await waitUntil("the worker to be busy") { busy.isRaised }
            for number in 0..<GroupCommitPolicy.manyFiles {
                worker.enqueue(.publish(folder.held("a\(number)"), mayWait: true))
            }
            worker.enqueue(.runBeside { _ in worker.enqueue(.runBeside { _ in beside.raise() }) })
            ready.open()
            try await waitUntil("the eviction to go on") { beside.isRaised }
            worker.enqueue(.run { behind.raise() })
            #expect(record.published.isEmpty && !behind.isRaised)
            for _ in 0..<GroupCommitPolicy.manyFiles { record.letThrough() }
            try await offPool { worker.finish() }
            #expect(
                behind.isRaised && record.published.joined().count == GroupCommitPolicy.manyFiles)
        }
    }

    /// An unlink was decided for a file of the old directory. The new one has a file of the same name.
    @Test func aVictimOfAnotherDirectoryIsNotRemoved() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let place = folder.directory.identity
            let victim = Victim(name: .entry(Sample.key("a")), bytes: 0)
            #expect(rename(folder.path, folder.path + ".old") == 0)
            #expect(mkdir(folder.path, 0o700) == 0)
            try folder.directory.adopt {}
            #expect(try folder.publish("a").first?.failure == nil)
            let logger = Logger(label: "test")
            #expect(!folder.directory.tryRemove(victim, from: place, logger))
            #expect(folder.status(folder.file("a")) != nil)
            #expect(folder.directory.tryRemove(victim, from: folder.directory.identity, logger))
            #expect(folder.status(folder.file("a")) == nil)
        }
    }

    /// The caller of a job never waits for ever.
    @Test func jobsAfterTheEndRunAtOnce() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let worker = DirectoryWorker(
                directory: folder.directory, logger: Logger(label: "test"))
            worker.start(CommitRecord())
            try await offPool { worker.finish() }
            let run = Flag()
            worker.enqueue(.run { run.raise() })
            #expect(run.isRaised)
        }
    }

    /// An eviction gets half of the thread, however many images are published.
    @Test func aJobBesidePublicationsGetsAsMuchTimeAsTheyTook() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let worker = DirectoryWorker(
                directory: folder.directory, logger: Logger(label: "test"))
            worker.start(CommitRecord())
            defer { worker.finish() }
            #expect(await deadline(from: worker) <= .now + .milliseconds(50))
            // By then, the job before has ended.
            await withCheckedContinuation { done in worker.enqueue(.run { done.resume() }) }
            let end = ContinuousClock.now + .milliseconds(20)
            worker.enqueue(.run { while .now < end {} })
            #expect(await deadline(from: worker) >= end + .milliseconds(20))
        }
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isRaised: Bool { value.load(ordering: .acquiring) }
        func raise() { value.store(true, ordering: .releasing) }
    }

    private func deadline(from worker: DirectoryWorker) async -> ContinuousClock.Instant {
        await withCheckedContinuation { continuation in
            worker.enqueue(.runBeside { continuation.resume(returning: $0) })
        }
    }
}
