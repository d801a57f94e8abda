import CacheKey
import CacheSamples
import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Origins that ask for a pause, as scripts of events and decisions.
@Suite("State: paused origins", .timeLimit(.minutes(5)))
struct OriginPauseScriptTests {
    let script = StateScript(originLimit: 4, retry: RetryPolicy())
    private let start = Sample.moment

    private func isRefused(_ image: String, after pause: Duration = .zero) -> [String] {
        let failed = FailedTransfer(failure: .http(429), serverDelay: 100)
        return script.fails(image, failed, now: start + pause)
    }

    private func time(_ seconds: Int) -> [String] {
        script.event { $0.fetching.pausesEnded(now: start.instant + .seconds(seconds), &$1) }
    }

    @Test func afterThePauseOneDownloadStartsAndThenMore() {
        let images = ["a", "b", "c", "d", "e", "f", "g", "h"]
        for image in images { script.caller("caller \(image)", wants: image) }
        #expect(isRefused("a") == ["plan"])
        #expect(isRefused("b") == ["plan"])
        // The two that were under way still arrive.
        for image in ["c", "d"] { #expect(script.finishes(image) == ["publish \(image)"]) }
        #expect(time(99) == [])
        for image in ["a", "b", "e", "h"] {
            #expect(script.phase(image) == .queued)
            #expect(script.lookup(image)?.progress?.failure?.httpStatus == 429)
        }
        // The refused downloads come first.
        #expect(time(100) == ["start b"])
        #expect(script.finishes("b") == ["start a", "start e", "publish b"])
        // Two is half of the four that ran when the origin refused.
        #expect(script.finishes("a") == ["start f", "publish a"])
        #expect(script.state.fetching.counters.failed == 0)
    }

    @Test func onlyARefusalWithoutOtherDownloadsSpendsAnAttempt() {
        script.caller("one", wants: "a")
        #expect(isRefused("a") == ["plan"])
        for attempt in 1...3 {
            #expect(time(attempt * 100) == ["start a"])
            #expect(isRefused("a", after: .seconds(attempt * 100)) == ["plan"])
        }
        #expect(time(400) == ["start a"])
        #expect(isRefused("a", after: .seconds(400)) == ["plan", "tell one: a http"])
    }

    @Test func aStaleEntryServesWhileItsOriginIsPaused() {
        var facts = Sample.facts()
        facts.freshUntil = Sample.now
        _ = script.looksAt("b", .entry(facts))
        script.caller("one", wants: "a")
        _ = isRefused("a")
        let id = script.state.fetching.waiterBegan()
        let stale = Staleness(reuse: .mustRevalidate, allowsStaleIfError: true)
        let said = script.want("b", by: id, stale: stale)
        #expect(said + script.event { $0.fetching.waiterNamed(id, &$1) } == ["tell nobody"])
        #expect(script.state.fetching.counters.staleAnswers == 1)
    }

    @Test func originsWhosePauseIsOverAreForgottenIfThereAreTooMany() throws {
        var pauses = OriginPauses()
        let origins = try (0...1024).map { Origin(try CacheURL("http://host\($0)/")) }
        for (number, origin) in origins.enumerated() {
            // Only the first half has paused for long enough at the end.
            let end = start.instant + .seconds(number < 512 ? 1 : 100)
            if number == 1024 { _ = pauses.takeEnded(now: start.instant + .seconds(1)) }
            let forgotten = pauses.refused(origin, .http(429), until: end, running: 1)
            #expect(Set(forgotten) == (number == 1024 ? Set(origins[..<512]) : []))
        }
        #expect(pauses.limit(of: origins[0]) == nil && pauses.limit(of: origins[512]) == 0)
    }

    @Test func theCeilingRisesAfterSixteenSuccessesUntilItIsGone() {
        script.caller("one", wants: "a")
        _ = isRefused("a")
        #expect(time(100) == ["start a"])
        var pauses = OriginPauses()
        let origin = Origin(Sample.url("a"))
        _ = pauses.refused(origin, .http(429), until: start.instant, running: 4)
        #expect(pauses.limit(of: origin) == 0)
        #expect(pauses.takeEnded(now: start.instant) == [origin])
        var limits: [Int?] = []
        for _ in 0..<40 {
            _ = pauses.accepted(origin, usual: 4)
            limits.append(pauses.limit(of: origin))
        }
        #expect(Array(limits.prefix(2)) == [2, 2])
        #expect(limits[15] == 3)
        #expect(limits.last == .some(nil))
    }
}
