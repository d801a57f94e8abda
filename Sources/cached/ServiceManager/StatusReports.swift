import ServiceLifecycle

/// Keeps the line up to date that the service manager shows about the daemon. After the first seconds it
/// changes once a minute at most.
struct StatusReports: Service {
    let manager: ServiceManager
    /// The line as it is now.
    let line: @Sendable () -> String

    /// Enough time to read most directories at the start.
    private static let firstPause = Duration.seconds(2)
    private static let pause = Duration.seconds(60)

    func run() async throws {
        // Sleeping fails when the daemon stops.
        try? await cancelWhenGracefulShutdown {
            var (reported, pause): (String?, Duration) = (nil, Self.firstPause)
            while true {
                try await Task.sleep(for: pause)
                let line = line()
                if line != reported { manager.status(line) }
                (reported, pause) = (line, Self.pause)
            }
        }
    }
}
