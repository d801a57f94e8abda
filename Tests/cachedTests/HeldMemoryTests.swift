import CacheCore
import CacheFetching
import CacheValues
import Testing

@testable import cached

/// The calls to refuse, and the clients to disconnect, when they take too much memory.
@Suite("Held memory")
struct HeldMemoryTests {
    private final class Client {}

    private let clients = (0..<6).map { _ in Client() }
    private let users = (0..<6).map { UserID(rawValue: $0) }

    private func memory(_ held: [(client: Int, user: Int, bytes: Int)]) -> HeldMemory<Client> {
        var memory = HeldMemory<Client>(limit: 400)
        for (time, (client, user, bytes)) in held.enumerated() {
            memory.record(
                .init(waiting: bytes, lastSent: UInt64(time)), of: clients[client], users[user],
                at: UInt64(time))
        }
        return memory
    }

    private func indices(_ silent: [Client]) -> [Int?] {
        silent.map { client in clients.firstIndex { $0 === client } }
    }

    @Test func aUserWithinTheSumsKeepsAllClients() {
        var memory = memory([(0, 1, 200), (1, 1, 150), (2, 2, 300)])
        #expect(!memory.isExceeded(by: users[1]) && !memory.isExceeded(by: users[2]))
        #expect(memory.takeSilent().isEmpty)
        #expect(memory.bytes == 650)
    }

    @Test func aUserLosesTheClientThatHasDoneNothingForLongest() {
        var memory = memory([(0, 1, 200), (1, 1, 200), (2, 2, 100), (3, 1, 10)])
        #expect(memory.isExceeded(by: users[1]) && !memory.isExceeded(by: users[2]))
        // The first one reads and the last one sends, so the second one is the one that does nothing.
        memory.record(.init(waiting: 190, read: 10), of: clients[0], users[1], at: 10)
        memory.record(.init(waiting: 190, lastSent: 11), of: clients[3], users[1], at: 11)
        #expect(indices(memory.takeSilent()) == [1, 0])
        #expect(memory.bytes == 290 && !memory.isExceeded(by: users[1]))
    }

    @Test func aRecordWithoutProgressIsNone() {
        var memory = memory([(0, 1, 200), (1, 1, 190)])
        memory.record(.init(waiting: 220), of: clients[0], users[1], at: 10)
        #expect(indices(memory.takeSilent()) == [0])
    }

    @Test func callsThatExceedTheSumAreRefusedAndNotGivenUp() {
        var memory = memory([(0, 1, 50)])
        #expect(memory.admits(350, of: users[1]) && !memory.admits(351, of: users[1]))
        memory.record(.init(call: 350), of: clients[1], users[1], at: 2)
        #expect(!memory.admits(1, of: users[1]) && memory.admits(400, of: users[2]))
        // One more byte arrives. The call stays.
        memory.record(.init(waiting: 51), of: clients[0], users[1], at: 3)
        #expect(memory.isExceeded(by: users[1]))
        #expect(indices(memory.takeSilent()) == [0])
        #expect(memory.bytes == 350)
    }

    @Test func theSumOfAllIsKeptByThoseWithTheMost() {
        var memory = memory([
            (0, 0, 340), (1, 1, 345), (2, 2, 350), (3, 3, 300), (4, 4, 265), (5, 5, 10),
        ])
        #expect(memory.isExceeded(by: users[5]) && !memory.admits(1, of: users[5]))
        #expect(indices(memory.takeSilent()) == [0])
        #expect(memory.bytes == 1270)
    }

    @Test func whatIsAnsweredAndReadTakesNothing() {
        var memory = memory([(0, 1, 500)])
        memory.record(.init(read: 500), of: clients[0], users[1], at: 2)
        #expect(memory.bytes == 0 && memory.clients.isEmpty)
        #expect(!memory.isExceeded(by: users[1]) && memory.takeSilent().isEmpty)
    }
}
