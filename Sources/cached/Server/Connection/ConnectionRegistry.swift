import CacheCore
import CacheModel
import CacheValues
import Glibc
import NIOCore
import Synchronization

/// All connections of the event loop, and the calls that wait for downloads. Used on the event loop only, apart from the
/// number of calls.
final class ConnectionRegistry: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: ClientConnection] = [:]
        var waiting: [WaiterID: CallDispatcher] = [:]
        var incompleteMessages = IncompleteMessageBudget<ClientConnection>(
            limit: ConnectionRegistry.incompleteMessagesLimit)
        var unreadAnswers = HeldBytes<ClientConnection, uid_t?>(
            limit: ConnectionRegistry.unreadAnswersLimit,
            userLimit: ConnectionRegistry.unreadAnswersLimit / 2)
        var waitingMessages = HeldBytes<ClientConnection, uid_t?>(
            limit: ConnectionRegistry.waitingMessagesLimit,
            userLimit: ConnectionRegistry.waitingMessagesLimit / 2)
        var isDraining = false
        var clients: UInt64 = 0
    }

    /// Bytes that all incomplete messages together may take.
    static let incompleteMessagesLimit = 256 << 20
    /// Bytes that all long messages which wait for a thread may take together. One user may take half of it.
    static let waitingMessagesLimit = 256 << 20
    /// Bytes that all answers which clients have not read may take together. One user may take half of it, which is more
    /// than the longest answer has.
    static let unreadAnswersLimit = 512 << 20

    private let state: NIOLoopBoundBox<State>
    private let takenCalls = Atomic(0)

    init(loop: any EventLoop) {
        state = .makeBoxSendingValue(State(), eventLoop: loop)
    }

    /// An identity that no other connection has or had.
    func nextClient(of user: UserID) -> ClientID {
        state.value.clients += 1
        return ClientID(rawValue: state.value.clients, user: user)
    }

    /// A connection takes a call. Any thread may call it.
    func tookCall() { takenCalls.wrappingAdd(1, ordering: .relaxed) }

    /// The number of calls since the start. Any thread may read it.
    var calls: Int { takenCalls.load(ordering: .relaxed) }

    /// All connections.
    var connections: [ClientConnection] { Array(state.value.connections.values) }

    func opened(_ connection: ClientConnection) {
        state.value.connections[ObjectIdentifier(connection)] = connection
    }

    func closed(_ connection: ClientConnection) {
        state.value.connections[ObjectIdentifier(connection)] = nil
        state.value.unreadAnswers.forget(connection)
        state.value.waitingMessages.forget(connection)
    }

    /// Whether the daemon is stopping, so that no download begins any more.
    var isDraining: Bool {
        get { state.value.isDraining }
        set { state.value.isDraining = newValue }
    }

    /// A connection holds an incomplete message of this size; 0 means that it holds none.
    func holdsIncompleteMessage(_ connection: ClientConnection, bytes: Int) {
        while let silent = state.value.incompleteMessages.record(bytes, of: connection) {
            silent.refuseIncompleteMessage()
        }
    }

    /// A connection holds a long message that waits for a thread. If there are too many, those of the user with the most
    /// are given up.
    func holdsMessage(_ connection: ClientConnection, bytes: Int) {
        let user = connection.peer?.user
        state.value.waitingMessages.record(bytes, read: 0, of: connection, user)
        guard state.value.waitingMessages.isExceeded(by: user) else { return }
        while let first = state.value.waitingMessages.nextToGiveUp {
            state.value.waitingMessages.forget(first)
            first.refuseWaitingMessage()
        }
    }

    /// The message of a connection waits no more.
    func readMessage(of connection: ClientConnection) {
        state.value.waitingMessages.forget(connection)
    }

    /// A connection holds so many bytes of answers that its client has not read. Most of what was recorded before has been
    /// read by now, so all is looked at again before a client is disconnected.
    func holdsUnreadAnswers(_ connection: ClientConnection) {
        record(connection)
        guard state.value.unreadAnswers.isExceeded(by: connection.peer?.user) else { return }
        for client in state.value.unreadAnswers.clients { record(client) }
        guard state.value.unreadAnswers.isExceeded(by: connection.peer?.user) else { return }
        while let silent = state.value.unreadAnswers.nextToGiveUp {
            silent.disconnectWithoutReading()
            state.value.unreadAnswers.forget(silent)
        }
    }

    private func record(_ connection: ClientConnection) {
        let unread = connection.unreadBytes
        state.value.unreadAnswers.record(
            unread, read: connection.sentBytes - unread, of: connection, connection.peer?.user)
    }

    // MARK: Calls that wait for downloads

    func wait(for waiter: WaiterID, _ calls: CallDispatcher) {
        state.value.waiting[waiter] = calls
    }

    func stopWaiting(for waiter: WaiterID) {
        state.value.waiting[waiter] = nil
    }

    /// Passes an outcome on to the call that waits for it, if it still does.
    func decided(_ outcome: Outcome) {
        state.value.waiting.removeValue(forKey: outcome.waiter)?.fetchDecided(outcome)
    }
}
