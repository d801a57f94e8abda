import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// A download that has taken its share waits for the next round, and no other waits for it.
@Suite struct TransferTurnsTests {
    private let first = FlightID(rawValue: 1)
    private let second = FlightID(rawValue: 2)

    @Test func aDownloadTakesItsShareInEachRound() {
        let turns = TransferTurns()
        for _ in 0..<3 {
            for _ in 0..<4 { #expect(turns.admits(16 << 10, of: first)) }
            #expect(turns.isIdle)
            #expect(!turns.admits(16 << 10, of: first) && !turns.isIdle)
            #expect(turns.admits(100, of: second))
            #expect(turns.nextRound() == [first])
            #expect(turns.isIdle)
        }
        #expect(turns.nextRound() == [])
    }

    /// libcurl may offer pieces of any length.
    @Test func aPieceLargerThanTheShareIsTaken() {
        let turns = TransferTurns()
        #expect(turns.admits(1 << 20, of: first))
        #expect(!turns.admits(1, of: first))
        #expect(turns.admits(1 << 20, of: second))
        #expect(turns.nextRound() == [first])
    }
}
