import CacheWire
import Glibc
import NIOCore
import NIOPosix

/// The HTTP face from its start to its end.
struct FaceSession {
    /// The sockets of the daemon to try, in order.
    let paths: [String]
    let port: Int
    /// Further values of `Host` that lead here.
    let hosts: [String]
    let signature: Signature

    /// Runs until a signal ends it.
    func run() throws {
        let signals = HeldSignals(SIGINT, SIGTERM, SIGHUP)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let start = group.next().submit { self.start(on: group.any()) }
        let port = try start.flatMap { $0 }.wait()
        StandardStreams.write("serving images at http://127.0.0.1:\(port)/i/\n", to: STDOUT_FILENO)
        _ = signals.next()
    }

    private func start(on loop: any EventLoop) -> EventLoopFuture<Int> {
        let started = loop.makePromise(of: Int.self)
        let daemon = DaemonClient(paths: paths, on: loop)
        daemon.start {
            HTTPServer(on: loop, limit: 512).listen(port: port) { port in
                ImageFace(daemon, signature, hosts: hosts, port: port)
            } _: { result in
                started.completeWith(result.mapError { ProgramFailure.port(port, $0) })
            }
        }
        return started.futureResult
    }
}
