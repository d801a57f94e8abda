import NIOCore
import Synchronization

/// Keeps the line up to date that the service manager shows about the daemon. After the first seconds it
/// changes once a minute at most.
final class StatusReports: Sendable {
    private let manager: ServiceManager
    /// The line as it is now.
    private let line: @Sendable () -> String
    private let reported = Mutex<String?>(nil)

    /// Enough time to read most directories at the start.
    private static let firstPause = TimeAmount.seconds(2)
    private static let pause = TimeAmount.seconds(60)

    init(manager: ServiceManager, line: @escaping @Sendable () -> String) {
        (self.manager, self.line) = (manager, line)
    }

    func start(on loop: any EventLoop) {
        loop.scheduleRepeatedTask(initialDelay: Self.firstPause, delay: Self.pause) { _ in
            let line = self.line()
            let isNew = self.reported.withLock { reported in
                defer { reported = line }
                return line != reported
            }
            if isNew { self.manager.status(line) }
        }
    }
}
