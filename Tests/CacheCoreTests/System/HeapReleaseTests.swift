import Testing

@testable import CacheCore

@Suite("Heap: when free memory is returned")
struct HeapReleaseTests {
    private static let megabyte = 1 << 20

    /// Runs rounds in which the process has the bytes that `bytes` gives for the number of returns so far. Returns the
    /// rounds of the returns.
    private func returns(
        _ release: inout HeapRelease, rounds: Int, _ bytes: (_ returns: Int) -> Int
    ) -> [Int] {
        var due: [Int] = []
        for round in 0..<rounds where release.isDue(bytes(due.count)) {
            due.append(round)
            release.returned(bytes(due.count))
        }
        return due
    }

    @Test func aProcessThatGrowsReturnsMemoryAtOnce() {
        var release = HeapRelease()
        #expect(returns(&release, rounds: 10) { _ in 5 * Self.megabyte } == [0])
        // Too little to return.
        #expect(returns(&release, rounds: 300) { _ in 6 * Self.megabyte } == [])
        #expect(returns(&release, rounds: 300) { $0 == 0 ? 9 << 20 : 5 << 20 } == [0])
    }

    /// A call is in work while memory is returned, and ends some rounds later without any growth.
    @Test func memoryThatBecomesFreeLaterIsReturnedToo() {
        var release = HeapRelease()
        #expect(returns(&release, rounds: 5) { _ in 5 << 20 } == [0])
        let due = returns(&release, rounds: 100) { $0 < 6 ? 300 << 20 : 5 << 20 }
        #expect(due == [0, 1, 3, 7, 15, 31])
    }

    /// Clients that held memory are gone.
    @Test func memoryThatClientsHeldIsReturnedSoon() {
        var release = HeapRelease()
        _ = returns(&release, rounds: 100) { _ in 300 << 20 }
        #expect(!release.isEager)
        release.muchWasFreed()
        #expect(release.isEager)
        let due = returns(&release, rounds: 30) { $0 < 8 ? 300 << 20 : 1 << 20 }
        #expect(due == [0, 1, 2, 3, 4, 5, 7, 11])
        #expect(!release.isEager)
    }

    /// What clients no longer hold can be needed for something else by now.
    @Test func memoryThatIsNeededIsNotReturnedForEver() {
        var release = HeapRelease()
        _ = returns(&release, rounds: 100) { _ in 300 << 20 }
        release.muchWasFreed()
        let due = returns(&release, rounds: 10_000) { _ in 300 << 20 }
        #expect(due.count > 5 && due.last.map { $0 < 500 } == true, "\(due)")
    }

    /// Memory that stays in use costs little.
    @Test func thePausesGrow() {
        var release = HeapRelease()
        #expect(returns(&release, rounds: 5) { _ in 5 << 20 } == [0])
        let due = returns(&release, rounds: 10_000) { _ in 300 << 20 }
        #expect(due.prefix(5) == [0, 1, 3, 7, 15])
        #expect(due.count < 90)
    }
}
