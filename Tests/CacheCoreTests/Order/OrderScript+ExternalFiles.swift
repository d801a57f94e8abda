import CLinux
import CacheKey
import CacheValues
import Glibc
import HTTPCaching
import TestSupport

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Files that other programs leave in the directory, and the comparison of the cache's files with
/// du(1).
extension OrderScript {
    /// Writes files that must not be counted: a sparse one under a foreign name, and one under a
    /// name of the cache's own but without a record. Also writes a partial without a download,
    /// which counts.
    func putExternalFiles() throws {
        try makeSparse("stranger")
        try makeSparse(names[Self.stray])
        try putPartial()
    }

    private func putPartial() throws {
        let name = names[Self.stray] + ".part"
        try makeSparse(name)
        model.partials[Self.stray] = allocated(name)
    }

    /// Writes a sparse file of a megabyte, which uses few blocks.
    private func makeSparse(_ name: String) throws {
        let path = "\(directory)/\(name)"
        try writeFile(Array(repeating: 7, count: 5000), to: path)
        guard truncate(path, 1 << 20) == 0 else { throw TestFailure("truncate of \(path) failed") }
    }

    /// Gives some entries a second, foreign name; the blocks stay when such an entry is evicted.
    private func linkSome() throws {
        for entry in model.entries.prefix(5) {
            let name = "\(directory)/link-\(figures.operations)-\(entry.image)"
            guard link("\(directory)/\(names[entry.image])", name) == 0 else {
                throw TestFailure("link of \(name) failed")
            }
        }
    }

    /// Compares the ledger with the sum that coreutils' du prints for entries and partials.
    func audit(_ fixture: CacheFixture) async throws {
        if model.partials[Self.stray] == nil { try putPartial() }
        try linkSome()
        let own =
            model.entries.map { names[$0.image] } + model.partials.keys.map { names[$0] + ".part" }
        let output = try await runSuccessfully(
            "du", ["--block-size=1", "--total"] + own.map { "\(directory)/\($0)" })
        let total = output.split(separator: "\n").last?.split(separator: "\t").first
        try expectEqual(
            total.flatMap { Int64($0) }, fixture.cache.statistics().bytesUsed, "du's bytes")
        figures.audits += 1
    }

    // MARK: Records

    /// When the bytes of an image were received, in seconds since 1970.
    func fetchTime(of image: Int) throws -> Int {
        Int(try readRecord(of: image).fetchedAt.rawValue)
    }

    func setFetchTime(of image: Int, _ time: Int) throws {
        var record = try readRecord(of: image)
        record.fetchedAt = UnixTime(rawValue: UInt32(time))
        try attributes(of: image).set(try recordName(of: image), record.bytes)
    }

    /// Makes all entries an hour older while no cache runs.
    func passHour() throws {
        for entry in model.entries {
            try setFetchTime(of: entry.image, entry.fetchedAt - 3600)
            let path = "\(directory)/\(names[entry.image])"
            var status = stat()
            guard stat(path, &status) == 0 else { throw TestFailure("\(path) does not exist") }
            status.st_atim.tv_sec -= 3600
            guard utimensat(AT_FDCWD, path, [status.st_atim, status.st_mtim], 0) == 0 else {
                throw TestFailure("the time of \(path) can't be set")
            }
        }
        model.hourPassed()
    }

    private func readRecord(of image: Int) throws -> EntryRecord {
        let bytes = try attributes(of: image).bytes(of: try recordName(of: image)) ?? []
        guard let record = bytes.withUnsafeBytes({ EntryRecord($0) }) else {
            throw TestFailure("operation \(figures.operations): \(image) has no record")
        }
        return record
    }

    private func attributes(of image: Int) -> ExtendedAttributes {
        ExtendedAttributes(of: "\(directory)/\(names[image])")
    }

    private func recordName(of image: Int) throws -> String {
        guard let key = CacheKey(names[image]) else { throw TestFailure("\(names[image])") }
        return EntryRecord.attributeName(of: key)
    }

    func namesInDirectory() throws -> [String] {
        guard let stream = opendir(directory) else {
            throw TestFailure("\(directory) can't be read")
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
                })
        }
        return names
    }
}
