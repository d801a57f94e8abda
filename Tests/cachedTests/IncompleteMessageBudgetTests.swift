import Testing

@testable import cached

/// The sender to disconnect when incomplete messages take too much memory.
@Suite("Incomplete message budget")
struct IncompleteMessageBudgetTests {
    private final class Sender {}

    @Test func disconnectsTheSenderThatIsSilentLongest() {
        let senders = (0..<4).map { _ in Sender() }
        var budget = IncompleteMessageBudget<Sender>(limit: 100)
        for sender in senders[..<3] { #expect(budget.record(30, of: sender) == nil) }
        // The first sender sends more, so the second is the one that is silent longest.
        #expect(budget.record(40, of: senders[0]) == nil)
        #expect(budget.record(10, of: senders[3]) === senders[1])
        #expect(budget.record(0, of: senders[1]) == nil)
        #expect(budget.record(10, of: senders[3]) == nil)
        #expect(budget.bytes == 80)
        #expect(budget.record(50, of: senders[3]) === senders[2])
    }

    @Test func recordingTheSameSizeAgainDoesNotCountAsSending() {
        let senders = (0..<3).map { _ in Sender() }
        var budget = IncompleteMessageBudget<Sender>(limit: 100)
        for sender in senders[..<2] { #expect(budget.record(50, of: sender) == nil) }
        #expect(budget.record(50, of: senders[0]) == nil)
        #expect(budget.record(1, of: senders[2]) === senders[0])
    }

    @Test func completeMessagesTakeNothing() {
        let sender = Sender()
        var budget = IncompleteMessageBudget<Sender>(limit: 100)
        #expect(budget.record(0, of: sender) == nil)
        #expect(budget.record(100, of: sender) == nil)
        #expect(budget.record(0, of: sender) == nil)
        #expect(budget.bytes == 0)
    }
}
