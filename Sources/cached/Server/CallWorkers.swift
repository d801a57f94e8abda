import CacheCore
import CacheFetching
import CacheValues
import NIOPosix
import Synchronization

/// Threads for calls that read files or name many URLs: they must not delay the event loop.
///
/// Users take turns, and their clients beneath. No user has all threads.
final class CallWorkers: Sendable {
    typealias Work = @Sendable (NIOThreadPool.WorkItemState) -> Void

    private struct State {
        var queue = FairQueue<UInt64>()
        var works: [UInt64: Work] = [:]
        var running = Tally<UserID>()
        var count: UInt64 = 0

        /// Takes the next work, if a thread is free for it.
        mutating func next() -> (UserID, Work)? {
            guard running.total < CallWorkers.threads,
                let turn = queue.takeFirst(count: { [running] user in
                    running[user] < CallWorkers.share ? running[user] : nil
                }),
                let work = works.removeValue(forKey: turn.member)
            else { return nil }
            running.add(to: turn.client.user)
            return (turn.client.user, work)
        }
    }

    private static let threads = 3
    /// The most threads of one user.
    private static let share = 2

    private let pool = NIOThreadPool(numberOfThreads: threads)
    private let state = Mutex(State())

    func start() { pool.start() }

    /// Runs work on a thread when the client has a turn.
    func submit(for client: ClientID, _ work: @escaping Work) {
        state.withLock { state in
            state.count += 1
            state.works[state.count] = work
            state.queue.append(.init(state.count, client))
        }
        startNext()
    }

    private func startNext() {
        guard let (user, work) = state.withLock({ $0.next() }) else { return }
        pool.submit { state in
            work(state)
            self.state.withLock { $0.running.remove(from: user) }
            self.startNext()
        }
    }
}
