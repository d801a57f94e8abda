import Testing

@testable import cached

/// The clients to disconnect when unread answers take too much memory.
@Suite("Unread answers")
struct HeldBytesTests {
    private final class Client {}

    private let clients = (0..<6).map { _ in Client() }

    private func answers(_ unread: [(client: Int, user: Int, bytes: Int)]) -> HeldBytes<
        Client, Int
    > {
        var answers = HeldBytes<Client, Int>(limit: 800, userLimit: 400)
        for (client, user, bytes) in unread {
            answers.record(bytes, read: 0, of: clients[client], user)
        }
        return answers
    }

    @Test func aUserWithinTheLimitsKeepsAllClients() {
        let answers = answers([(0, 1, 200), (1, 1, 150), (2, 2, 300)])
        #expect(!answers.isExceeded(by: 1) && !answers.isExceeded(by: 2))
        #expect(answers.nextToGiveUp == nil)
        #expect(answers.bytes == 650)
    }

    @Test func theUserOverTheLimitLosesTheClientThatHasReadNothingForLongest() {
        var answers = answers([(0, 1, 200), (1, 1, 200), (2, 2, 100), (3, 1, 10)])
        #expect(answers.isExceeded(by: 1) && !answers.isExceeded(by: 2))
        // The first client reads, so the second one is the one that does not.
        answers.record(190, read: 10, of: clients[0], 1)
        answers.record(190, read: 20, of: clients[3], 1)
        #expect(answers.nextToGiveUp === clients[1])
        answers.forget(clients[1])
        #expect(answers.nextToGiveUp === clients[0])
        answers.forget(clients[0])
        #expect(answers.nextToGiveUp == nil)
        #expect(answers.bytes == 290)
    }

    @Test func theLimitOfAllIsKeptByTheUserWithTheMost() {
        let answers = answers([(0, 1, 300), (1, 2, 350), (2, 3, 200)])
        #expect(answers.isExceeded(by: 3))
        #expect(answers.nextToGiveUp === clients[1])
    }

    @Test func answersThatWereReadTakeNothing() {
        var answers = answers([(0, 1, 500)])
        answers.record(0, read: 500, of: clients[0], 1)
        #expect(answers.bytes == 0 && answers.clients.isEmpty)
        #expect(!answers.isExceeded(by: 1) && answers.nextToGiveUp == nil)
    }
}
