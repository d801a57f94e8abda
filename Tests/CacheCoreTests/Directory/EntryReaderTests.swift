import CLinux
import CacheSamples
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore

@Suite("Entry reader", .timeLimit(.minutes(5)))
struct EntryReaderTests {
    /// Longer than one read.
    private let bytes = [UInt8](repeating: 7, count: 2 * EntryReader.length)

    private func opened(_ name: String, _ folder: CacheFolder) -> OpenedEntry {
        OpenedEntry(
            key: Sample.key(name), descriptor: open(folder.file(name), O_RDONLY), isPinned: false)
    }

    private func read(_ entry: OpenedEntry, _ reader: inout EntryReader) -> String {
        "\(reader.read(entry, isCancelled: { false }))"
    }

    /// The digest must not contain the bytes before a failure.
    @Test(arguments: [Errno.ioError, .noMemory])
    func aFailureInTheMiddleOfAnEntryDoesNotDamageTheNext(error: Errno) async throws {
        try await withTestScope { scope in
            let plan = FaultPlan(.pread, nth: 2, error, times: error == .ioError ? 1 : 2)
            let folder = try CacheFolder(in: scope, faults: plan)
            for name in ["a", "b"] {
                let published = folder.directory.publish([folder.held(name, bytes)], now: .now)
                #expect(published.map(\.failure) == [nil])
            }
            var reader = EntryReader(folder.directory)
            // A broken disk is asked twice, and gives the bytes the second time.
            let first = read(opened("a", folder), &reader)
            #expect(first == (error == .ioError ? "whole" : "failed(\(error))"))
            #expect(plan.hasStruck)
            if error == .noMemory {
                let again = read(opened("a", folder), &reader)
                #expect(again.hasPrefix("failed"), "the second planned failure")
            }
            let second = read(opened("b", folder), &reader)
            #expect(second == "whole")
        }
    }
}
