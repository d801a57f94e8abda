import CacheKey
import CacheSamples
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

@Suite("Directory watch", .timeLimit(.minutes(5)))
struct DirectoryWatchTests {
    @Test func reportsChangesOfTheCachesOwnNamesOnly() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            var watch = try DirectoryWatch(folder.directory)
            let (a, b) = (Sample.key("a"), Sample.key("b"))
            #expect(drained(&watch) == [])
            try folder.write("x", to: folder.file("a"))
            #expect(
                Set(drained(&watch)) == [
                    .created(a), .opened(a), .appeared(a), .appeared(a),
                ])
            #expect(rename(folder.file("a"), folder.file("b")) == 0)
            #expect(drained(&watch) == [.vanished(a), .appeared(b)])
            #expect(unlink(folder.file("b")) == 0)
            #expect(drained(&watch) == [.vanished(b)])
            #expect(symlink("nowhere", folder.file("a")) == 0)
            #expect(mkdir(folder.file("b"), 0o700) == 0)
            #expect(drained(&watch) == [.created(a), .created(b)])
        }
    }

    /// With few events, and with more events than one read returns.
    @Test(arguments: [1, 1000])
    func laterEventsWaitForTheNextCall(count: Int) async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let paths = try ["a", "b"].map { name in
                try folder.write("x", to: folder.file(name))
                return folder.file(name)
            }
            var watch = try DirectoryWatch(folder.directory)
            for _ in 0..<count { for path in paths { close(open(path, O_RDONLY)) } }
            var taken = 0
            // Every event that is drained causes another one.
            watch.drain { _ in
                close(open(paths[taken % 2], O_RDONLY))
                taken += 1
            }
            #expect(taken >= 2 * count)
            #expect(taken <= 2 * count + 1000)
            #expect(drained(&watch).count > 0)
        }
    }

    @Test func ignoresOtherFilesAndDistinguishesPartials() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            var watch = try DirectoryWatch(folder.directory)
            try folder.write("x", to: folder.path + "/stranger")
            #expect(unlink(folder.path + "/stranger") == 0)
            #expect(drained(&watch) == [])
            _ = try folder.stage("a")
            try folder.directory.discardPartial(of: Sample.key("a"))
            let a = Sample.key("a")
            #expect(Set(drained(&watch)) == [.partialChanged(a), .partialVanished(a)])
        }
    }

    @Test func aPublicationAppearsUnderItsName() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            var watch = try DirectoryWatch(folder.directory)
            let a = Sample.key("a")
            _ = try folder.publish("a")
            #expect(
                Set(drained(&watch)) == [
                    .appeared(a), .partialChanged(a), .partialVanished(a),
                ])
            _ = try folder.probe("a")
            #expect(drained(&watch) == [])
            // Opening a file is a use of it, even by this process.
            _ = try contents(of: folder.file("a"))
            #expect(drained(&watch) == [.opened(a)])
        }
    }

    @Test func aPublicationThatNeverHadANameAppearsOnce() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(inMemory: scope)
            var watch = try DirectoryWatch(folder.directory)
            _ = folder.publishAlone([folder.held("a")])
            #expect(drained(&watch) == [.created(Sample.key("a"))])
            _ = try folder.probe("a")
            #expect(drained(&watch) == [])
        }
    }

    @Test func aFullQueueIsReportedAsLostChanges() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            var watch = try DirectoryWatch(folder.directory)
            try CacheFolder.overflowQueue(of: folder.path)
            let changes = drained(&watch)
            #expect(changes.contains(.overflowed))
            #expect(drained(&watch) == [])
            try folder.write("x", to: folder.file("a"))
            #expect(Set(drained(&watch)).contains(.created(Sample.key("a"))))
        }
    }

    @Test func aMovedDirectoryIsReportedAsLostChanges() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            var watch = try DirectoryWatch(folder.directory)
            #expect(rename(folder.path, folder.path + "-moved") == 0)
            #expect(drained(&watch) == [.overflowed])
        }
    }

    @Test(arguments: [1, 2])
    func aMachineWithoutWatchesIsAnError(nth: Int) async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(
                in: scope, faults: FaultPlan(.inotify, nth: nth, .tooManyOpenFiles))
            #expect(throws: (any Error).self) { _ = try DirectoryWatch(folder.directory) }
        }
    }

    private func drained(_ watch: inout DirectoryWatch) -> [DirectoryChange] {
        var changes: [DirectoryChange] = []
        watch.drain { changes.append($0) }
        return changes
    }
}
