import Testing

@testable import cached

/// Who has to go when messages of which the end does not come hold too much.
struct HalfMessagesTests {
    private final class Sender {}

    @Test func whoHasBeenSilentForLongestGoes() {
        let senders = (0..<4).map { _ in Sender() }
        var halves = HalfMessages<Sender>(limit: 100)
        for sender in senders[..<3] { #expect(halves.note(30, of: sender) == nil) }
        // The first goes on, so that the second is the one that waits.
        #expect(halves.note(40, of: senders[0]) == nil)
        #expect(halves.note(10, of: senders[3]) === senders[1])
        #expect(halves.note(0, of: senders[1]) == nil)
        #expect(halves.note(10, of: senders[3]) == nil)
        #expect(halves.bytes == 80)
        #expect(halves.note(50, of: senders[3]) === senders[2])
    }

    @Test func toBeAskedAgainIsNoSignOfLife() {
        let senders = (0..<3).map { _ in Sender() }
        var halves = HalfMessages<Sender>(limit: 100)
        for sender in senders[..<2] { #expect(halves.note(50, of: sender) == nil) }
        #expect(halves.note(50, of: senders[0]) == nil)
        #expect(halves.note(1, of: senders[2]) === senders[0])
    }

    @Test func whatIsWholeHoldsNothing() {
        let sender = Sender()
        var halves = HalfMessages<Sender>(limit: 100)
        #expect(halves.note(0, of: sender) == nil)
        #expect(halves.note(100, of: sender) == nil)
        #expect(halves.note(0, of: sender) == nil)
        #expect(halves.bytes == 0)
    }
}
