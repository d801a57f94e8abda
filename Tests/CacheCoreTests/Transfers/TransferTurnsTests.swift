import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// A download whose time in a round is over waits for the next round, and no other waits for it.
@Suite struct TransferTurnsTests {
    private let first = FlightID(rawValue: 1)
    private let second = FlightID(rawValue: 2)
    private let start = ContinuousClock.now

    @Test func aDownloadHasItsTimeInEachRound() {
        let turns = TransferTurns()
        for round in 0..<3 {
            let start = start + .seconds(round)
            #expect(turns.admits(first, now: start))
            #expect(turns.admits(first, now: start + TransferTurns.round - .nanoseconds(1)))
            #expect(turns.isIdle)
            #expect(!turns.admits(first, now: start + TransferTurns.round) && !turns.isIdle)
            #expect(turns.nextRound() == [first])
            #expect(turns.isIdle)
        }
        #expect(turns.nextRound() == [])
    }

    @Test func aTurnBeginsWithItsFirstPiece() {
        let turns = TransferTurns()
        let late = start + .seconds(1)
        #expect(turns.admits(first, now: start))
        #expect(turns.admits(second, now: late))
        #expect(!turns.admits(first, now: late))
        #expect(turns.admits(second, now: late + .milliseconds(1)))
    }

    @Test func downloadsThatReceiveShareTheTimeOfARound() {
        let turns = TransferTurns()
        #expect(turns.admits(first, now: start) && turns.admits(second, now: start))
        _ = turns.nextRound()
        #expect(turns.admits(first, now: start) && turns.admits(second, now: start))
        #expect(!turns.admits(first, now: start + TransferTurns.round / 2))
    }

    @Test func aDownloadWithoutPiecesWaitsUntilThereAreSome() {
        let turns = TransferTurns()
        turns.awaitPieces(first)
        #expect(turns.areAwaitingPieces && turns.isIdle)
        #expect(turns.nextRound(hasPieces: false) == [])
        #expect(turns.nextRound(hasPieces: true) == [first])
        #expect(!turns.areAwaitingPieces)
    }
}
