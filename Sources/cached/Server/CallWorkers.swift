import CacheCore
import NIOPosix
import Synchronization

/// Threads for calls that read files or name many URLs: they must not delay the event loop.
///
/// Users take turns, and no user has all threads. A connection has one call at a time, so the connections of a user
/// take turns as their calls arrive.
final class CallWorkers: Sendable {
    typealias Work = @Sendable (NIOThreadPool.WorkItemState) -> Void

    fileprivate struct State {
        var running: [UserID: Int] = [:]
        var waiting: [UserID: ArraySlice<Work>] = [:]
        /// The users who wait, in turn.
        var users: [UserID] = []
        var idleThreads = CallWorkers.threads
    }

    fileprivate static let threads = 3
    /// The most threads of one user.
    private static let share = 2

    private let pool = NIOThreadPool(numberOfThreads: threads)
    private let state = Mutex(State())

    func start() { pool.start() }

    /// Runs work on a thread when the user has a turn.
    func submit(for user: UserID, _ work: @escaping Work) {
        state.withLock { state in
            if state.waiting[user] == nil { state.users.append(user) }
            state.waiting[user, default: []].append(work)
        }
        startNext()
    }

    private func startNext() {
        guard let (user, work) = state.withLock({ $0.next(share: Self.share) }) else { return }
        pool.submit { state in
            work(state)
            self.state.withLock { $0.ended(user) }
            self.startNext()
        }
    }
}

extension CallWorkers.State {
    /// Takes the next work, if a thread is free for it.
    fileprivate mutating func next(share: Int) -> (UserID, CallWorkers.Work)? {
        guard idleThreads > 0,
            let place = users.firstIndex(where: { running[$0, default: 0] < share })
        else { return nil }
        let user = users.remove(at: place)
        guard let work = waiting[user]?.popFirst() else { return nil }
        if waiting[user]?.isEmpty == true { waiting[user] = nil } else { users.append(user) }
        running[user, default: 0] += 1
        idleThreads -= 1
        return (user, work)
    }

    fileprivate mutating func ended(_ user: UserID) {
        let left = running[user, default: 0] - 1
        running[user] = left > 0 ? left : nil
        idleThreads += 1
    }
}
