import CacheFetching
import CacheValues
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
    /// A cache that finishes the steps of a reaction when the test says so.
    final class Scripted: RelievedCache {
        struct State {
            /// The events in order.
            var events: [String] = []
            var dropping: [@Sendable (PageDrop) -> Void] = []
            var evicting: [@Sendable (Removal, CacheValues.Failure?) -> Void] = []
            var figures = MemoryFigures(machine: 1000, available: 900)
        }

        let state = Mutex(State())
        let isInMemory: Bool

        init(isInMemory: Bool = false) {
            self.isInMemory = isInMemory
        }

        func relief() -> PressureRelief {
            var logger = Logger(label: "pressure")
            logger.logLevel = .critical
            return PressureRelief(
                .auto, cache: self, logger: logger,
                look: { self.state.withLock { $0.figures } },
                giveBack: { self.note("given back") })
        }

        func note(_ event: String) {
            state.withLock { $0.events.append(event) }
        }

        func throttleDownloads() { note("throttled") }

        func closeIdleConnections() { note("closed") }

        func dropPages(
            ofColdest share: Double, completion: @escaping @Sendable (PageDrop) -> Void
        ) {
            note("drop \(share)")
            state.withLock { $0.dropping.append(completion) }
        }

        func evict(
            toBytes bytes: Int64, fetchedBefore limit: UnixTime?,
            completion: @escaping @Sendable (Removal, CacheValues.Failure?) -> Void
        ) {
            note("evict to \(bytes)" + (limit == nil ? "" : " but the new"))
            state.withLock { $0.evicting.append(completion) }
        }

        /// Finishes the dropping of pages that began first.
        func finishDropping(_ failure: CacheValues.Failure? = nil) {
            state.withLock { $0.dropping.removeFirst() }(
                PageDrop(
                    dropped: Removal(entries: 7, bytes: 28_672), entryBytes: 1000,
                    partialBytes: 10, failure: failure))
        }

        /// Finishes the eviction that began first.
        func finishEvicting(_ removal: Removal = Removal(entries: 3, bytes: 12_288)) {
            note("evicted")
            state.withLock { $0.evicting.removeFirst() }(removal, nil)
        }

        /// Waits until a reaction begins.
        func waitForDropping() async throws {
            try await waitUntil("a relief") { !state.withLock { $0.dropping.isEmpty } }
        }

        func setAvailable(_ bytes: Int64) {
            state.withLock { $0.figures.available = bytes }
        }

        /// The events since the last call.
        func takeEvents() -> [String] {
            state.withLock { state in
                defer { state.events = [] }
                return state.events
            }
        }
    }

    private func report(
        _ level: PressureLevel, _ cause: PressureCause = .person, source: String = "test"
    ) -> PressureReport {
        PressureReport(level: level, cause: cause, source: source)
    }

    // MARK: Requests

    @Test func aWarningEvictsToItsShareAndKeepsTheAllocatorsFreeMemory() {
        let cache = Scripted()
        let relief = cache.relief()
        relief.react(to: report(.warning)) { _ in cache.note("completed") }
        #expect(cache.takeEvents() == ["drop 0.625"])
        cache.finishDropping()
        // Partials are not evicted.
        #expect(cache.takeEvents() == ["evict to 760 but the new"])
        cache.finishEvicting()
        #expect(cache.takeEvents() == ["evicted", "completed"])
    }

    @Test func criticalPressureTightensTheBudgetThenGivesMemoryBack() {
        let cache = Scripted()
        let relief = cache.relief()
        relief.react(to: report(.critical)) { _ in cache.note("completed") }
        #expect(cache.takeEvents() == ["throttled", "closed", "drop 0.75"])
        cache.finishDropping()
        #expect(cache.takeEvents() == ["given back", "evict to 510"])
        cache.finishEvicting()
        #expect(cache.takeEvents() == ["evicted", "given back", "completed"])
    }

    @Test func theBlockingFormReturnsAfterTheReaction() async throws {
        let cache = Scripted()
        let relief = cache.relief()
        let thread = NamedThread("test") {
            relief.reactAndWait(to: report(.warning))
            cache.note("returned")
        }
        try await cache.waitForDropping()
        cache.finishDropping()
        #expect(cache.takeEvents() == ["drop 0.625", "evict to 760 but the new"])
        cache.finishEvicting()
        thread.join()
        #expect(cache.takeEvents() == ["evicted", "returned"])
    }

    @Test func theReactionIsRecordedBeforeTheCompletion() {
        let cache = Scripted()
        let relief = cache.relief()
        #expect(relief.record == PressureRecord())
        relief.react(to: report(.critical, source: "SIGUSR2")) { done in
            #expect(done.evicted == Removal(entries: 3, bytes: 12_288))
            #expect(done.dropped == Removal(entries: 7, bytes: 28_672))
            #expect(done.figures == MemoryFigures(machine: 1000, available: 900))
            #expect(done.reason == .requested)
            #expect(relief.record.count == 1)
            #expect(relief.record.last?.report.source == "SIGUSR2")
            #expect(relief.record.last?.report.level == .critical)
            #expect(relief.record.last?.relief == done)
        }
        cache.finishDropping()
        #expect(relief.record.count == 0)
        cache.finishEvicting()
        #expect(relief.record.count == 1)
    }

    @Test func allReactionsAreCountedAndTheLastToEndIsShown() {
        let cache = Scripted()
        let relief = cache.relief()
        for source in ["first", "second", "third"] {
            relief.react(to: report(.warning, source: source)) { _ in }
        }
        for _ in 0..<3 { cache.finishDropping() }
        for _ in 0..<3 { cache.finishEvicting() }
        #expect(relief.record.count == 3)
        #expect(relief.record.last?.report.source == "third")
    }

    // MARK: Pressure that the daemon found

    @Test func foundPressureGivesBackWhatCostsNoImage() {
        let cache = Scripted()
        let relief = cache.relief()
        relief.react(to: report(.warning, .daemon)) { _ in cache.note("completed") }
        cache.finishDropping()
        #expect(cache.takeEvents() == ["closed", "drop 0.625", "given back", "completed"])
        #expect(relief.record.last?.relief.reason == .noShortage)
        #expect(relief.record.last?.relief.evicted == .nothing)
    }

    @Test func aShortageIsLookedAtAgainAfterEachStep() {
        let cache = Scripted()
        let relief = cache.relief()
        cache.setAvailable(30)
        relief.react(to: report(.critical, .daemon)) { _ in cache.note("completed") }
        cache.finishDropping()
        #expect(cache.takeEvents().last == "evict to 960 but the new")
        cache.finishEvicting()
        #expect(cache.takeEvents() == ["evicted", "given back", "evict to 910 but the new"])
        cache.setAvailable(60)
        cache.finishEvicting()
        #expect(cache.takeEvents() == ["evicted", "given back", "completed"])
        let done = relief.record.last?.relief
        #expect(done?.evicted == Removal(entries: 6, bytes: 24_576))
        // The log shows what the decision was based on.
        #expect(done?.reason == .shortage)
        #expect(done?.figures.available == 30)
    }

    @Test func aReactionEndsWhenNothingMoreCanBeEvicted() {
        let cache = Scripted(isInMemory: true)
        let relief = cache.relief()
        cache.setAvailable(0)
        relief.react(to: report(.critical, .daemon)) { _ in cache.note("completed") }
        cache.finishDropping()
        _ = cache.takeEvents()
        cache.finishEvicting(.nothing)
        #expect(cache.takeEvents() == ["evicted", "completed"])
        #expect(relief.record.last?.relief.reason == .inMemory)
    }

    @Test func aDirectoryThatIsNotInPlaceLosesNothing() {
        let cache = Scripted()
        let relief = cache.relief()
        relief.react(to: report(.warning)) { _ in cache.note("completed") }
        cache.finishDropping(.shuttingDown)
        #expect(cache.takeEvents() == ["drop 0.625", "completed"])
        #expect(relief.record.last?.relief.reason == .notInPlace)
        #expect(relief.record.last?.relief.failure == .shuttingDown)
    }

    // MARK: Stats

    @Test func withoutAReactionTheLastOneIsAbsent() {
        let metrics = PressureRecord().metrics(source: "off")
        #expect(metrics == ["pressureSource": "off", "pressureReactions": 0])
    }

    @Test func theLastReactionIsShownWithAllItsValues() {
        let relief = MemoryRelief(
            dropped: Removal(entries: 7, bytes: 28_672),
            figures: MemoryFigures(machine: 24, available: 20, groupUsed: 3, groupLimit: 4),
            evicted: Removal(entries: 3, bytes: 12_288), reason: .shortage,
            duration: .microseconds(4_900))
        var record = PressureRecord()
        record.reacted(
            PressureRecord.Reaction(
                report: report(.warning, source: "SIGUSR1"), at: UnixTime(rawValue: 1_790_000_000),
                relief: relief))
        #expect(
            record.metrics(source: "/proc/pressure/memory") == [
                "pressureSource": "/proc/pressure/memory", "pressureReactions": 1,
                "pressureLastSource": "SIGUSR1", "pressureLastLevel": "warning",
                "pressureLastAt": 1_790_000_000, "pressureLastEntries": 3,
                "pressureLastBytes": 12_288, "pressureLastReason": "memory is short",
                "pressureLastDroppedEntries": 7, "pressureLastDroppedBytes": 28_672,
                "pressureLastAvailable": 20, "pressureLastMachine": 24,
                "pressureLastGroupUsed": 3, "pressureLastGroupLimit": 4,
                "pressureLastMilliseconds": 4,
            ])
    }
}
