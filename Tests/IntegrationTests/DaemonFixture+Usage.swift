import TestSupport
import Testing

extension DaemonFixture {
    /// The disk space of entries and partials, as du(1) adds it up.
    func diskUsage() async throws -> Int {
        let names = try names(excluding: []).map { "\(directory)/\($0)" }
        guard !names.isEmpty else { return 0 }
        let text = try await runSuccessfully("du", ["--block-size=1", "--total"] + names)
        let total = text.split(separator: "\n").last?.split(separator: "\t").first
        return try #require(total.flatMap { Int($0) })
    }

    /// The ledger agrees with the disk; only while no operation is in progress.
    func expectLedgerMatchesDisk(_ comment: Comment? = nil) async throws {
        let usage = try await diskUsage()
        #expect(try await metric("bytesUsed") == usage, comment)
    }
}
