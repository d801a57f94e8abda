import CacheWire
import Glibc
import NIOCore
import NIOPosix

/// The gallery from its start to its end.
struct GallerySession {
    /// The sockets of the daemon to try, in order.
    let paths: [String]
    let port: Int
    let opensBrowser: Bool
    /// The time without a page after which it ends.
    let idle: TimeAmount

    /// The time that a person has to open the page for the first time.
    private static let firstPage = TimeAmount.minutes(10)

    /// Runs until the page is closed, or a signal ends it.
    func run() throws {
        let signals = HeldSignals(SIGINT, SIGTERM, SIGHUP)
        ChildProcess.forgetEnded()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let start = group.next().submit { self.start(on: group.any()) }
        let browser = try start.flatMap { $0 }.wait()
        _ = signals.next()
        browser?.remove()
    }

    /// Listens, and shows the way to the page. The result is the browser that was started, if any.
    private func start(on loop: any EventLoop) -> EventLoopFuture<Browser?> {
        let started = loop.makePromise(of: Browser?.self)
        let daemon = DaemonClient(paths: paths, on: loop)
        let token = Token()
        let life = LifeTime(loop, first: max(idle, Self.firstPage), idle: idle) {
            HeldSignals.end()
        }
        let server = HTTPServer(on: loop, limit: 64)
        var browser: Browser?
        daemon.start {
            server.listen(port: port) { port in
                let gallery = Gallery(daemon, token: token, port: port)
                gallery.onViews = { areThere in
                    life.pages(areThere)
                    // The browser knows the address now.
                    if areThere { browser?.remove() }
                }
                return gallery
            } _: { result in
                started.completeWith(
                    Result {
                        let port = try listening(result)
                        browser = try open("http://127.0.0.1:\(port)\(token.path)")
                        return browser
                    })
            }
        }
        return started.futureResult
    }

    private func listening(_ result: Result<Int, any Error>) throws -> Int {
        switch result {
        case .success(let port): return port
        case .failure(let error): throw ProgramFailure.port(port, error)
        }
    }

    /// Opens the browser, or prints the address for a person who does.
    private func open(_ address: String) throws -> Browser? {
        guard opensBrowser else {
            StandardStreams.write("\(address)\n", to: STDOUT_FILENO)
            return nil
        }
        let browser = try Browser(leadingTo: address)
        if browser.open() { return browser }
        browser.remove()
        StandardStreams.write(
            "No browser was found. Open this address, which is secret:\n\(address)\n",
            to: STDOUT_FILENO)
        return nil
    }
}
