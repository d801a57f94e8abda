import CacheCore
import CacheFetching
import CacheValues
import NIOCore

/// Lets users take turns on the event loop, and the connections of each user beneath. Used on the event loop only.
///
/// The calls of a user are answered at once until they have taken the time ``slice``. Then the connections of that
/// user that have further calls wait, and read nothing more. The loop looks at its sockets before the next user who
/// waits has a turn. So however many calls a user sends, another user's call waits for about one slice.
final class CallTurns: Sendable {
    private struct State {
        /// Nanoseconds that the calls of each user took since the user's last turn began.
        var spent: [UserID: Int64] = [:]
        /// The clients whose calls wait.
        var queue = FairQueue<ClientID>()
        var connections: [ClientID: ClientConnection] = [:]
        /// The user whose turn it is.
        var current: UserID?
        var isScheduled = false
        /// When the next turn is due.
        var due = NIODeadline.now()
        /// Whether a turn that came too late has been put off already.
        var isPutOff = false
    }

    private static let slice = TimeAmount.milliseconds(2).nanoseconds
    /// An event loop runs everything that is due before it looks at its sockets again.
    private static let pause = TimeAmount.microseconds(100)
    /// Users who are remembered. There are rarely so many.
    private static let remembered = 1024

    private let loop: any EventLoop
    private let state: NIOLoopBoundBox<State>

    init(loop: any EventLoop) {
        self.loop = loop
        state = .makeBoxSendingValue(State(), eventLoop: loop)
    }

    /// Whether a call of this user can be answered now.
    ///
    /// - Parameter time: the time that calls have taken and that is not spent yet.
    func mayTakeCall(_ user: UserID, _ time: TimeAmount = .zero) -> Bool {
        let spent = state.value.spent[user, default: 0] + time.nanoseconds
        guard spent < Self.slice else { return false }
        return state.value.current == user || !isWaiting(user)
    }

    private func isWaiting(_ user: UserID) -> Bool {
        !state.value.queue.isEmpty && state.value.queue.first { $0 == user ? 0 : nil } != nil
    }

    /// The calls of a user took some time.
    func spend(_ time: TimeAmount, of user: UserID) {
        if state.value.spent.count > Self.remembered { state.value.spent.removeAll() }
        state.value.spent[user, default: 0] += time.nanoseconds
    }

    /// The connection has calls that cannot be answered now. It gets a turn once.
    func wait(_ connection: ClientConnection, _ client: ClientID) {
        state.value.connections[client] = connection
        state.value.queue.append(.init(client, client))
        schedule()
    }

    private func schedule() {
        guard !state.value.isScheduled else { return }
        state.value.isScheduled = true
        state.value.due = .now() + Self.pause
        loop.assumeIsolated().scheduleTask(in: Self.pause) { self.run() }
    }

    /// Whether the turn is so late that the loop may not have looked at its sockets since the last one, because the
    /// machine is busy. Nothing is done until the next pause then, so that the loop finds nothing due.
    private func putsOff() -> Bool {
        state.value.isPutOff =
            !state.value.isPutOff && NIODeadline.now() - state.value.due > Self.pause
        return state.value.isPutOff
    }

    /// A turn of the next user.
    private func run() {
        state.value.isScheduled = false
        guard !putsOff() else { return schedule() }
        guard let user = state.value.queue.first()?.client.user else { return }
        state.value.spent[user] = 0
        state.value.current = user
        while mayTakeCall(user), let client = takeClient(of: user) { client.takeTurn() }
        state.value.current = nil
        if !state.value.queue.isEmpty { schedule() }
    }

    private func takeClient(of user: UserID) -> ClientConnection? {
        let turn = state.value.queue.takeFirst { $0 == user ? 0 : nil }
        return turn.flatMap { state.value.connections.removeValue(forKey: $0.member) }
    }
}
