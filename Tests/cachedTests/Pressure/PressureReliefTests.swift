import CacheWire
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import CacheCore
@testable import cached

/// The reactions to pressure, with a cache that only records the requests.
@Suite("Pressure relief", .timeLimit(.minutes(5)))
struct PressureReliefTests {
    typealias Completion = @Sendable (MemoryRelief) -> Void

    /// A cache that finishes a reaction when the test says so.
    final class Scripted: Sendable {
        struct State {
            /// The events in order.
            var events: [String] = []
            var measures: [ReliefMeasure] = []
            var running: [Completion] = []
        }

        let state = Mutex(State())

        func relief(_ settings: PressureSettings = PressureSettings()) -> PressureRelief {
            var logger = Logger(label: "pressure")
            logger.logLevel = .critical
            return PressureRelief(
                settings, logger: logger, giveBack: { self.note("given back") },
                relieve: { measure, completion in
                    self.state.withLock {
                        $0.measures.append(measure)
                        $0.running.append(completion)
                    }
                })
        }

        func note(_ event: String) {
            state.withLock { $0.events.append(event) }
        }

        /// Finishes the reaction that was requested first.
        func finish(_ relief: MemoryRelief) {
            note("evicted")
            state.withLock { $0.running.removeFirst() }(relief)
        }

        /// Waits until a reaction is requested.
        func waitForRelief() async throws {
            try await waitUntil("a relief") { !state.withLock { $0.running.isEmpty } }
        }

        var events: [String] { state.withLock { $0.events } }
        var measures: [ReliefMeasure] { state.withLock { $0.measures } }
    }

    private let some = MemoryRelief(
        evicted: Removal(entries: 3, bytes: 12_288), dropped: Removal(entries: 7, bytes: 28_672),
        duration: .microseconds(4_900))

    @Test func aWarningEvictsToItsShareAndKeepsTheAllocatorsFreeMemory() {
        let cache = Scripted()
        let relief = cache.relief()
        relief.react(.warning, source: "test") { _ in cache.note("completed") }
        #expect(cache.measures == [ReliefMeasure(keptShare: 0.75, tightens: false)])
        cache.finish(some)
        #expect(cache.events == ["evicted", "completed"])
    }

    @Test func criticalPressureTightensTheBudgetThenGivesMemoryBack() {
        let cache = Scripted()
        let relief = cache.relief()
        relief.react(.critical, source: "test") { _ in cache.note("completed") }
        #expect(cache.measures == [ReliefMeasure(keptShare: 0.5, tightens: true)])
        cache.finish(some)
        #expect(cache.events == ["evicted", "given back", "completed"])
    }

    @Test func theSharesComeFromTheSettings() {
        let cache = Scripted()
        var settings = PressureSettings()
        (settings.warningKeep, settings.criticalKeep) = (0.9, 0.1)
        let relief = cache.relief(settings)
        relief.react(.warning, source: "test") { _ in }
        relief.react(.critical, source: "test") { _ in }
        #expect(cache.measures.map(\.keptShare) == [0.9, 0.1])
    }

    @Test func theBlockingFormReturnsAfterTheReaction() async throws {
        let cache = Scripted()
        let relief = cache.relief()
        let thread = NamedThread("test") {
            relief.reactAndWait(.warning, source: "test")
            cache.note("returned")
        }
        try await cache.waitForRelief()
        #expect(cache.events.isEmpty)
        cache.finish(some)
        thread.join()
        #expect(cache.events == ["evicted", "returned"])
    }

    @Test func theReactionIsRecordedBeforeTheCompletion() {
        let cache = Scripted()
        let relief = cache.relief()
        #expect(relief.record == PressureRecord())
        relief.react(.critical, source: "SIGUSR2") { [some] done in
            #expect(done == some)
            #expect(relief.record.count == 1)
            #expect(relief.record.last?.source == "SIGUSR2")
            #expect(relief.record.last?.level == .critical)
            #expect(relief.record.last?.relief == some)
        }
        #expect(relief.record.count == 0)
        cache.finish(some)
        #expect(relief.record.count == 1)
    }

    @Test func allReactionsAreCountedAndTheLastToEndIsShown() {
        let cache = Scripted()
        let relief = cache.relief()
        for source in ["first", "second", "third"] {
            relief.react(.warning, source: source) { _ in }
        }
        for _ in 0..<3 { cache.finish(some) }
        #expect(relief.record.count == 3)
        #expect(relief.record.last?.source == "third")
    }

    // MARK: Stats

    @Test func withoutAReactionTheLastOneIsAbsent() {
        let metrics = PressureRecord().metrics(source: "off")
        #expect(metrics == ["pressureSource": "off", "pressureReactions": 0])
    }

    @Test func theLastReactionIsShownWithAllItsValues() {
        var record = PressureRecord()
        record.reacted(
            PressureRecord.Reaction(
                source: "SIGUSR1", level: .warning, at: UnixTime(rawValue: 1_790_000_000),
                relief: some))
        #expect(
            record.metrics(source: "/proc/pressure/memory") == [
                "pressureSource": "/proc/pressure/memory", "pressureReactions": 1,
                "pressureLastSource": "SIGUSR1", "pressureLastLevel": "warning",
                "pressureLastAt": 1_790_000_000, "pressureLastEntries": 3,
                "pressureLastBytes": 12_288, "pressureLastDroppedEntries": 7,
                "pressureLastDroppedBytes": 28_672, "pressureLastMilliseconds": 4,
            ])
    }
}
