import CacheCore
import CacheValues
import Synchronization

/// Counts the open connections of each user, whichever thread serves them. Thread-safe.
final class OpenConnections: Sendable {
    private struct State {
        var seats: ConnectionSeats
        /// When the last connection closed, or the daemon started.
        var quietSince = ContinuousClock.now
    }

    private let state: Mutex<State>

    init(_ seats: ConnectionSeats) {
        state = Mutex(State(seats: seats))
    }

    /// A user connects. Returns `false` if there is no seat for this user.
    func take(_ user: UserID) -> Bool { state.withLock { $0.seats.take(user) } }

    /// A connection of a user has closed.
    func leave(_ user: UserID) {
        state.withLock { state in
            state.seats.leave(user)
            state.quietSince = .now
        }
    }

    /// The most connections that a user can have.
    func limit(of user: UserID) -> Int { state.withLock { $0.seats.limit(of: user) } }

    var count: Int { state.withLock { $0.seats.count } }

    /// The connections of each user who has any.
    var byUser: [UserID: Int] { state.withLock { $0.seats.countByUser } }

    /// Since when no client is connected; `nil` if one is.
    var quietSince: ContinuousClock.Instant? {
        state.withLock { $0.seats.count == 0 ? $0.quietSince : nil }
    }
}
