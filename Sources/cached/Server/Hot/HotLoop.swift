import CacheCore
import CacheFetching
import Synchronization

/// The thread of ``HotConnections``.
final class HotLoop: Sendable {
    /// Work for the thread, which does it between two turns.
    typealias Work = @Sendable (HotConnections) -> Void

    private let sockets: SocketWatch
    private let work = Mutex<[Work]>([])
    private let thread = Mutex<NamedThread?>(nil)

    init() throws(StartFailure) {
        do {
            sockets = try SocketWatch()
        } catch {
            throw StartFailure(error)
        }
    }

    /// Begins to serve clients.
    ///
    /// - Parameter listener: a socket that listens and does not block. The loop closes it.
    func start(_ server: ServerContext, listener: Int32) {
        let thread = NamedThread("hot") {
            let connections = HotConnections(server, self.sockets, listener: listener)
            while !connections.isEnded {
                connections.turn()
                for work in self.takeWork() { work(connections) }
            }
        }
        self.thread.withLock { $0 = thread }
    }

    private func takeWork() -> [Work] {
        work.withLock { work in
            defer { if !work.isEmpty { work = [] } }
            return work
        }
    }

    /// Does some work on the thread. After ``finish()`` it is never done.
    func execute(_ body: @escaping Work) {
        work.withLock { $0.append(body) }
        sockets.wakeUp()
    }

    /// Closes all connections that were not handed over. Returns once the thread has ended.
    func finish() {
        execute { $0.end() }
        thread.withLock { $0.take() }?.join()
    }
}
