import CachedClient
import TestSupport

extension ImageCache {
    /// The cache of a daemon that a test has started.
    convenience init(of daemon: DaemonFixture, patience: Duration = .patience) {
        var configuration = Configuration(directory: daemon.directory, socket: daemon.socket)
        configuration.patience = patience
        configuration.startsDaemon = false
        self.init(configuration)
    }
}

extension AsyncSequence where Self: Sendable, Element: Sendable, Failure == Never {
    /// Waits for the first element that satisfies a condition.
    func first(
        _ what: String, within limit: Duration = .patience,
        where isRight: @escaping @Sendable (Element) -> Bool
    ) async throws -> Element {
        try await withThrowingTaskGroup { group in
            group.addTask {
                for await element in self where isRight(element) { return element }
                throw TestFailure("the sequence ended without \(what)")
            }
            group.addTask {
                try await Task.sleep(for: limit)
                throw TestFailure("\(what) has not come within \(limit)")
            }
            defer { group.cancelAll() }
            return try await group.next()!
        }
    }
}

extension DaemonFixture {
    /// The number of downloads that run or wait for a slot.
    func downloads() async throws -> Int {
        try await metric("transfersRunning") + metric("transfersQueued")
    }
}

extension ImageState {
    var progress: CachedClient.Progress? {
        if case .inFlight(let progress) = self { progress } else { nil }
    }

    var file: ImageFile? {
        if case .cached(let file) = self { file } else { nil }
    }

    var failure: CacheFailure? {
        if case .failed(let failure) = self { failure } else { nil }
    }
}
