import CacheKey
import CacheSamples
import CacheValues
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

@Suite("Scan", .timeLimit(.minutes(5)))
struct ScanTests {
    @Test(arguments: [false, true])
    func findsEntriesAndIgnoresOtherFiles(inMemory: Bool) async throws {
        try await withTestScope { scope in
            let folder = try inMemory ? CacheFolder(inMemory: scope) : CacheFolder(in: scope)
            _ = try folder.publish("a", "b")
            try folder.write("copied", to: folder.file("c"))
            #expect(mkdir(folder.file("d"), 0o700) == 0)
            _ = try folder.stage("e")
            let strangers = [
                "notes.txt", " ", "é", "\(Sample.key("x"))~", "\(Sample.key("x")).part.bak",
                "\(Sample.key("x"))".uppercased(), "6ba7b811-9dad-11d1-80b4-00c04fd430c8",
                "-rf", "a\nb", ".hidden",
            ]
            for name in strangers { try folder.write("mine", to: "\(folder.path)/\(name)") }
            let names = try folder.names()
            let seen = try scan(folder.directory)
            #expect(Set(seen.keys) == Set(["a", "b", "c", "d"].map(Sample.key)))
            #expect(seen[Sample.key("c")] == .unusable)
            #expect(seen[Sample.key("d")] == .obstructed)
            guard case .entry? = seen[Sample.key("a")] else {
                Issue.record("an entry was not recognised")
                return
            }
            #expect(try folder.names() == names)
        }
    }

    @Test func readsInBatchesAndEndsWhenAsked() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let count = CacheDirectory.scanBatch + 100
            for number in 0..<count { try folder.write("x", to: folder.file("\(number)")) }
            var begun = 0
            var sizes: [Int] = []
            try folder.directory.scan(begin: { begun += 1 }) { batch, _ in
                sizes.append(batch.count)
                return true
            }
            #expect(sizes == [CacheDirectory.scanBatch, 100])
            #expect(begun == 2)
            sizes = []
            try folder.directory.scan(begin: {}) { batch, _ in
                sizes.append(batch.count)
                return false
            }
            #expect(sizes == [CacheDirectory.scanBatch])
        }
    }

    @Test(arguments: [1, 2, 3])
    func aFailedReadIsNotTakenForTheEnd(nth: Int) async throws {
        try await withTestScope { scope in
            let faults = FaultPlan(.getdents, nth: nth, .ioError)
            let folder = try CacheFolder(in: scope, faults: faults)
            _ = try folder.publish("a", "b")
            #expect(throws: Errno.ioError) { try scan(folder.directory) }
        }
    }

    @Test func aScanCanBeRepeated() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            _ = try folder.publish("a")
            for _ in 0..<3 { #expect(try scan(folder.directory).count == 1) }
        }
    }

    private func scan(_ directory: CacheDirectory) throws -> [CacheKey: EntryProbe] {
        var seen: [CacheKey: EntryProbe] = [:]
        try directory.scan(begin: {}) { batch, _ in
            for case .entry(let key, let probe) in batch { seen[key] = probe }
            return true
        }
        return seen
    }
}
