import CacheKey
import Glibc
import TestSupport

@testable import CacheCore
@testable import CacheModel

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
