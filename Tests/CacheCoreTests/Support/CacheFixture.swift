import CacheKey
import CacheValues
import Dispatch
import Logging
import Synchronization
import TestSupport

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// A cache in this process, and an origin that it downloads from.
final class CacheFixture: Sendable {
    let cache: Cache
    let origin: ScriptedOrigin
    let directory: String
    private let listener = Listener()

    init(
        in scope: TestScope, directory: String? = nil, origin: ScriptedOrigin? = nil,
        faults: FaultPlan? = nil, log: LogLines? = nil,
        _ change: (inout CacheSettings) -> Void = { _ in }
    ) throws {
        self.origin = try origin ?? ScriptedOrigin(in: scope)
        self.directory = try directory ?? TemporaryDirectory(in: scope).file("cache")
        var settings = CacheSettings(directory: self.directory)
        // By default the cache neither retries nor remembers failures. Tests of that turn it on.
        settings.retry = .once
        if let loopback = AddressRange("127.0.0.0/8") {
            settings.transfers.addressPolicy = AddressPolicy(allowing: [loopback])
        }
        // The origins of tests are on the loopback.
        settings.transfers.keepsLocalImages = false
        // Many tests serve one image under several paths. Tests of shared files turn this on.
        settings.sharesFiles = false
        change(&settings)
        cache = try Cache(
            settings,
            logger: Logger(label: "test") { _ -> any LogHandler in
                if let log { log } else { SwiftLogNoOpLogHandler() }
            },
            kernel: Kernel(faults: faults))
        let cache = cache
        scope.atEnd { await Self.drain(cache) }
        cache.start(observer: listener)
    }

    /// Ends the cache; the directory is free for another one afterwards.
    static func drain(_ cache: Cache) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                cache.drain()
                continuation.resume()
            }
        }
    }

    func imageRequest(_ path: String) throws -> ImageRequest {
        ImageRequest(try CacheURL(origin.url(path)))
    }

    func lookup(_ path: String) throws -> Lookup {
        cache.lookup([try imageRequest(path).key])[0]
    }

    func file(_ path: String) throws -> String { cache.path(of: try imageRequest(path).key) }

    /// Fetches and waits for the end.
    func fetch(_ paths: String..., options: FetchOptions = FetchOptions()) async throws -> Outcome {
        let waiter = cache.fetch(try paths.map { try imageRequest($0) }, options)
        return try await listener.outcome(of: waiter)
    }

    func outcome(of waiter: WaiterID) async throws -> Outcome {
        try await listener.outcome(of: waiter)
    }

    /// Waits until the cache announces changes that satisfy `condition`.
    func change(until condition: @escaping @Sendable (Set<CacheKey>) -> Bool) async throws {
        try await listener.change(of: cache, until: condition)
    }

    /// Removes and waits until the files are gone.
    func remove(_ paths: String...) async throws -> Removal {
        let keys = try paths.map { try imageRequest($0).key }
        return await withCheckedContinuation { continuation in
            cache.remove(keys) { continuation.resume(returning: $0?.gone ?? .nothing) }
        }
    }

    /// Has the attributes written that follow publications and confirmations, and waits for that.
    func writeAttributes() async {
        cache.writeAttributes()
        await withCheckedContinuation { continuation in
            cache.afterDirectoryWork { continuation.resume() }
        }
        _ = cache.statistics()
    }

    /// Verifies, and waits for the result.
    func verify(repairs: Bool = false) async -> VerificationReport {
        await withCheckedContinuation { continuation in
            _ = cache.verify(repairs: repairs, client: .daemon, onProgress: { _, _ in }) {
                continuation.resume(returning: $1)
            }
        }
    }

    func removeAll(prefix: String = "") async -> Removal {
        await withCheckedContinuation { continuation in
            var choice = EntryChoice()
            if !prefix.isEmpty { choice.byURL = { url, _ in url.hasPrefix(prefix) } }
            cache.removeAll(choice) {
                continuation.resume(returning: $0?.gone ?? .nothing)
            }
        }
    }

    /// Looks up an image again and again until the answer satisfies `condition`.
    func lookup(
        _ path: String, until condition: (Lookup) -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + .patience
        while !condition(try lookup(path)) {
            guard ContinuousClock.now < deadline else {
                throw TestFailure("\(path) stayed \(try lookup(path))")
            }
            await Task.yield()
        }
    }
}

/// Records the outcomes and changes that the cache reports.
private final class Listener: CacheObserver {
    private struct State {
        var outcomes: [WaiterID: Outcome] = [:]
        var waiting: [WaiterID: AsyncStream<Outcome>.Continuation] = [:]
    }

    private let state = Mutex(State())
    private let changes = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    func decided(_ outcomes: [Outcome]) {
        state.withLock { state in
            for outcome in outcomes {
                state.outcomes[outcome.waiter] = outcome
                state.waiting.removeValue(forKey: outcome.waiter)?.yield(outcome)
            }
        }
    }

    func changesArrived() {
        changes.continuation.yield()
    }

    func outcome(of waiter: WaiterID) async throws -> Outcome {
        let (stream, continuation) = AsyncStream<Outcome>.makeStream()
        state.withLock { state in
            if let known = state.outcomes[waiter] {
                continuation.yield(known)
            } else {
                state.waiting[waiter] = continuation
            }
        }
        return try await limited("a decision") {
            for await outcome in stream { return outcome }
            throw TestFailure("the cache reported no outcome")
        }
    }

    func change(
        of cache: Cache, until condition: @escaping @Sendable (Set<CacheKey>) -> Bool
    ) async throws {
        let stream = changes.stream
        try await limited("a change") {
            for await _ in stream where condition(cache.takeChanges()) { return }
        }
    }

    private func limited<Result: Sendable>(
        _ what: String, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: .patience)
                throw TestFailure("timed out waiting for \(what)")
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else {
                throw TestFailure("neither the operation nor the time limit ended")
            }
            return first
        }
    }
}

extension Lookup {
    var isCached: Bool {
        if case .cached = self { true } else { false }
    }

    var isMissing: Bool {
        if case .missing = self { true } else { false }
    }

    var progress: CacheFetching.Progress? {
        if case .inFlight(let progress) = self { progress } else { nil }
    }
}
