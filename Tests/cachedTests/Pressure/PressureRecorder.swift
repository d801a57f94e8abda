import CacheWire
import Logging
import TestSupport
import Testing

@testable import cached

/// A monitor whose reactions a test can wait for. It stops when the scope ends.
final class PressureRecorder: Sendable {
    let monitor: PressureMonitor
    private let reactions: AsyncStream<PressureReport>

    /// Watches the source that the environment names. The default is no cool-down.
    init(
        _ environment: [String: String], coolDown: Duration = .zero, in scope: TestScope
    ) {
        let (stream, continuation) = AsyncStream.makeStream(of: PressureReport.self)
        reactions = stream
        var logger = Logger(label: "pressure")
        logger.logLevel = .critical
        monitor = PressureMonitor(
            choice: PressureChoice(environment: environment, groups: nil, mounts: nil),
            coolDown: coolDown, logger: logger
        ) { continuation.yield($0) }
        monitor.start()
        scope.atEnd { [monitor] in monitor.stop() }
    }

    /// The report that causes the next reaction.
    func next(within limit: Duration = .patience) async throws -> PressureReport {
        try await withThrowingTaskGroup(of: PressureReport?.self) { [reactions] group in
            group.addTask {
                var iterator = reactions.makeAsyncIterator()
                return await iterator.next()
            }
            group.addTask {
                try await Task.sleep(for: limit)
                throw TestFailure("no reaction within \(limit)")
            }
            defer { group.cancelAll() }
            return try #require(try await group.next() ?? nil)
        }
    }

    /// The reports of all events before the call. It makes two requests, one after the other; the monitor reads the
    /// source between them.
    func untilNow() async throws -> [PressureReport] {
        var reactions: [PressureReport] = []
        for fence in ["first fence", "second fence"] {
            monitor.request(.warning, source: fence)
            while case let reaction = try await next(), reaction.source != fence {
                reactions.append(reaction)
            }
        }
        return reactions
    }

    func expectNothing(at location: SourceLocation = #_sourceLocation) async throws {
        let reactions = try await untilNow()
        #expect(reactions.isEmpty, sourceLocation: location)
    }
}
