import CacheCore
import CacheFetching
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
        var memory = HeldMemory<ClientConnection>(limit: ConnectionRegistry.memoryLimit)
        /// The most that was held since the allocator was last told that much has become free.
        var mostHeld = 0
        var isDraining = false
        var clients: UInt64 = 0
    }

    /// Bytes that the daemon holds for one user: messages, the URLs of calls, unread answers. It is more than the
    /// longest call and its answer take.
    static let memoryLimit = 256 << 20
    /// Bytes that have become free and are worth a look at the heap.
    private static let muchMemory = 8 << 20

    private let state: NIOLoopBoundBox<State>
    private let takenCalls = Atomic(0)

    init(loop: any EventLoop) {
        state = .makeBoxSendingValue(State(), eventLoop: loop)
    }

    /// An identity that no other connection has or had.
    func nextClient(of peer: Peer?) -> ClientID {
        state.value.clients += 1
        return ClientID(
            rawValue: state.value.clients, user: Peer.user(of: peer),
            isGuest: peer?.isGuest == true)
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
        record(.init(), of: connection)
    }

    /// Whether the daemon is stopping, so that no download begins any more.
    var isDraining: Bool {
        get { state.value.isDraining }
        set { state.value.isDraining = newValue }
    }

    // MARK: Memory

    /// The memory that a connection holds has changed, or its client has taken its part.
    func holds(_ connection: ClientConnection) {
        guard state.value.connections[ObjectIdentifier(connection)] != nil else { return }
        record(connection.heldMemory, of: connection)
    }

    private func record(
        _ share: HeldMemory<ClientConnection>.Share, of connection: ClientConnection
    ) {
        state.value.memory.record(
            share, of: connection, connection.client.user, at: NIODeadline.now().uptimeNanoseconds)
        let bytes = state.value.memory.bytes
        state.value.mostHeld = max(state.value.mostHeld, bytes)
        guard state.value.mostHeld - bytes >= Self.muchMemory else { return }
        state.value.mostHeld = bytes
        ProcessMemory.muchWasFreed()
    }

    /// A connection holds more memory than before. If its user has too much, clients are given up.
    func holdsMore(_ connection: ClientConnection) {
        holds(connection)
        let user = connection.client.user
        guard state.value.memory.isExceeded(by: user) else { return }
        recordAll()
        guard state.value.memory.isExceeded(by: user) else { return }
        for silent in state.value.memory.takeSilent() { silent.giveUp() }
    }

    /// Whether a call of a user can hold so many bytes more.
    func admits(_ more: Int, of user: UserID) -> Bool {
        if state.value.memory.admits(more, of: user) { return true }
        recordAll()
        return state.value.memory.admits(more, of: user)
    }

    /// Clients have read most of what was recorded before.
    private func recordAll() {
        for client in state.value.memory.clients { holds(client) }
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
