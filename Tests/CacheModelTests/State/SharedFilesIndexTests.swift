import CacheKey
import CacheSamples
import CacheValues
import TestSupport
import Testing

@testable import CacheDisk
@testable import CacheFetching

/// Names of the index that share files, against a plain model.
@Suite("Index: shared files", .timeLimit(.minutes(5)))
struct SharedFilesIndexTests {
    /// A file of the model: its inode, and the values that all its names share.
    private struct File {
        let inode: UInt64
        let content: UInt32
        let size: Int64
        var blocks: Int64
        var names: Set<CacheKey> = []
    }

    private static func facts(
        _ file: File, isLinked: Bool, isPinned: Bool
    ) -> EntryFacts {
        var facts = Sample.facts(
            size: file.size, allocated: file.blocks * 512, isPinned: isPinned)
        (facts.inode, facts.isLinked) = (file.inode, isLinked)
        facts.digestPrefix = file.content
        return facts
    }

    /// 100,000 changes: publications that share a file or do not, removals, pins, and probes that see more blocks or
    /// other numbers of links.
    @Test(arguments: [UInt64](1...2))
    func countsEachFileOnce(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var index = Index()
        var files: [UInt64: File] = [:]
        var fileOf: [CacheKey: UInt64] = [:]
        var pinned: Set<CacheKey> = []
        var (bytes, lastInode): (Int64, UInt64) = (0, 1 << 33)
        let keys = (0..<400).map { Sample.key("\($0)") }

        func leave(_ key: CacheKey) {
            guard let inode = fileOf.removeValue(forKey: key) else { return }
            files[inode]?.names.remove(key)
            guard files[inode]?.names.isEmpty == true, let gone = files.removeValue(forKey: inode)
            else { return }
            bytes -= gone.blocks * 512
        }
        func join(_ key: CacheKey, _ inode: UInt64, isPinned: Bool) {
            if fileOf[key] != inode { leave(key) }
            fileOf[key] = inode
            files[inode]?.names.insert(key)
            if isPinned { pinned.insert(key) } else { pinned.remove(key) }
        }
        for number in 0..<50_000 {
            let key = keys.randomElement(using: &random)!
            let isPinned = random.oneIn(8)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3:
                lastInode += 1
                let content = UInt32.random(in: 1...40, using: &random)
                files[lastInode] = File(
                    inode: lastInode, content: content, size: Int64(content) * 1000,
                    blocks: Int64(content) * 8)
                bytes += Int64(content) * 8 * 512
                join(key, lastInode, isPinned: isPinned)
                index.insert(
                    key, Self.facts(files[lastInode]!, isLinked: false, isPinned: isPinned))
            case 3..<6:
                guard let original = fileOf.values.min(by: { $0 % 97 < $1 % 97 }) else { continue }
                files[original]?.blocks += random.oneIn(4) ? 8 : 0
                bytes = files.values.reduce(0) { $0 + $1.blocks * 512 }
                join(key, original, isPinned: isPinned)
                guard let file = files[original] else { continue }
                index.insert(key, Self.facts(file, isLinked: true, isPinned: isPinned))
            case 6, 7:
                let freed = index.bytesFreed(byRemoving: key)
                let before = bytes
                let removed = index.remove(key)
                #expect((removed == nil) == (fileOf[key] == nil))
                leave(key)
                pinned.remove(key)
                #expect(freed == before - bytes, "seed \(seed), operation \(number)")
            case 8:
                let isThere = index.setPinned(key, isPinned)
                #expect(isThere == (fileOf[key] != nil))
                guard isThere else { continue }
                if isPinned { pinned.insert(key) } else { pinned.remove(key) }
            default:
                guard let inode = fileOf[key], let file = files[inode] else { continue }
                let facts = Self.facts(
                    file, isLinked: file.names.count > 1, isPinned: pinned.contains(key))
                let isThere = index.update(key, facts)
                #expect(isThere)
            }
            let total = index.allocated
            #expect(total == bytes, "seed \(seed), operation \(number)")
            guard total == bytes else { return }
            guard number % 500 == 0 else { continue }
            index.checkInvariants()
            let held = files.values.filter { !$0.names.isDisjoint(with: pinned) }
            let pins = index.pinned
            #expect(pins.entries == pinned.count)
            #expect(pins.bytes == held.reduce(0) { $0 + $1.blocks * 512 })
            let duplicates = index.totals.duplicates
            #expect(duplicates.entries == files.values.reduce(0) { $0 + $1.names.count - 1 })
            for name in keys {
                let names = index.names(of: name)
                #expect(Set(names) == fileOf[name].flatMap { files[$0]?.names } ?? [])
            }
        }
    }

    @Test func findsFilesByTheBeginningOfTheirDigest() {
        var index = Index()
        let files = (1...3).map { number in
            File(inode: UInt64(number), content: number == 3 ? 8 : 7, size: 1000, blocks: 8)
        }
        for (number, file) in files.enumerated() {
            index.insert(
                Sample.key("\(number)"), Self.facts(file, isLinked: false, isPinned: false))
        }
        index.insert(Sample.key("0b"), Self.facts(files[0], isLinked: true, isPinned: false))
        let alike = index.keys(digestPrefix: 7)
        // The latest name stands for a file.
        #expect(Set(alike) == [Sample.key("0b"), Sample.key("1")])
        let other = index.keys(digestPrefix: 7, size: 999)
        #expect(other.isEmpty)
        let unknown = index.keys(digestPrefix: 0)
        #expect(unknown.isEmpty)
        // Another name stands for the image's own entry.
        let originals = index.originals(of: 7, size: 1000, for: Sample.key("0"))
        #expect(Set(originals) == [Sample.key("0b"), Sample.key("1")])
        let hasCopies = ["0", "0b", "1", "2"].map { index.hasCopy(Sample.key($0)) }
        #expect(hasCopies == [true, true, true, false])
    }

    /// The names of a file have one access time, which must not go back.
    @Test func theLatestUseOfAFileIsWritten() {
        var index = Index()
        let file = File(inode: 5, content: 9, size: 1000, blocks: 8)
        for name in ["a", "b"] {
            index.insert(Sample.key(name), Self.facts(file, isLinked: true, isPinned: false))
        }
        _ = index.touch(Sample.key("a"), at: FileTime(nanoseconds: 2_000_000_000_000_000_000))
        let latest = FileTime(nanoseconds: 2_000_000_000_000_000_005)
        _ = index.touch(Sample.key("b"), at: latest)
        let written = index.takeTouches(limit: 9)
        #expect(written.map(\.time) == [latest, latest])
    }
}
