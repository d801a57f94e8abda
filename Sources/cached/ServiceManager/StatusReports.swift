import ServiceLifecycle

/// Keeps the line up to date that the service manager shows about the daemon. It changes once a minute at most.
struct StatusReports: Service {
    let manager: ServiceManager
    /// The line as it is now.
    let line: @Sendable () -> String

    private static let interval = Duration.seconds(60)

    func run() async throws {
        // Sleeping fails when the daemon stops.
        try? await cancelWhenGracefulShutdown {
            var reported: String?
            while true {
                try await Task.sleep(for: Self.interval)
                let line = line()
                if line != reported { manager.status(line) }
                reported = line
            }
        }
    }
}
