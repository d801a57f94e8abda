import CacheWire
import NIOCore

/// The daemon, through its restarts: one connection for calls that are answered at once, and further ones for streams
/// and long calls. Used on the event loop only.
final class DaemonClient {
    let loop: any EventLoop
    let paths: [String]
    private var connection: DaemonConnection?
    /// The daemon's description of itself; `nil` while none answers.
    private(set) var place: Methods.Where.Reply?
    /// Called when a daemon answers, and when it is lost.
    var onChange: (() -> Void)?

    /// The time between two attempts to connect.
    private static let pause = TimeAmount.milliseconds(300)

    /// - Parameter paths: the sockets to try, in order.
    init(paths: [String], on loop: any EventLoop) {
        self.paths = paths
        self.loop = loop
    }

    /// Connects now, and again whenever the daemon is lost. `then` is called after the first attempt.
    func start(_ then: @escaping () -> Void = {}) {
        connect { [self] connection in
            guard let connection else {
                tryAgain()
                return then()
            }
            self.connection = connection
            connection.onEnd = { [self] in lost() }
            connection.call(Methods.Where.self, NoParameters()) { [self] result in
                place = try? result.get().decoded()
                if place == nil { connection.close() } else { onChange?() }
                then()
            }
        }
    }

    private func lost() {
        connection = nil
        let wasThere = place != nil
        place = nil
        if wasThere { onChange?() }
        tryAgain()
    }

    private func tryAgain() {
        loop.assumeIsolated().scheduleTask(in: Self.pause) { [self] in start() }
    }

    /// Makes a further connection; `nil` if no daemon answers.
    func connect(_ then: @escaping (DaemonConnection?) -> Void) {
        DaemonConnection.connect(to: paths[...], on: loop, then)
    }

    /// Makes a call that is answered at once.
    func call<M: Method>(
        _ method: M.Type, _ parameters: M.Parameters, _ then: @escaping (CallResult) -> Void
    ) {
        guard let connection else { return then(.failure(.away)) }
        connection.call(method, parameters, then)
    }

    /// Makes a call that can take long, on a connection of its own, which ends if nobody waits for the answer any more.
    func callAlone<M: Method>(
        _ method: M.Type, _ parameters: M.Parameters, more: Bool = false, for asker: Asker? = nil,
        _ then: @escaping (CallResult) -> Void
    ) {
        connect { connection in
            guard let connection else { return then(.failure(.away)) }
            if asker?.isThere == false { connection.close() }
            asker?.onLeave = { connection.close() }
            connection.call(method, parameters, more: more) { result in
                then(result)
                if case .success(let reply) = result, reply.continues { return }
                connection.close()
            }
        }
    }
}
