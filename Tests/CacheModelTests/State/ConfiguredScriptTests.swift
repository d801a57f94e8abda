import CacheKey
import CacheSamples
import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// New limits and rules while downloads run and wait.
@Suite("State: new settings", .timeLimit(.minutes(5)))
struct ConfiguredScriptTests {
    private func configured(
        _ script: StateScript, transfers: Int = 9, host: Int = .max, retry: RetryPolicy = .once
    ) -> [String] {
        script.event {
            $0.fetching.configured(
                transferLimit: transfers, originLimit: host, retry: retry,
                naming: IgnoredQueries(), &$1)
        }
    }

    @Test func aHigherLimitStartsQueuedDownloads() {
        let script = StateScript(transferLimit: 1)
        script.caller("reader", wants: "a", "b", "c", "d") { #expect($0 == ["start a"]) }
        #expect(configured(script, transfers: 3) == ["start b", "start c"])
    }

    @Test func aHigherLimitOfAnOriginStartsTheDownloadsItBlocked() {
        let script = StateScript(originLimit: 1)
        script.caller("reader", wants: "a", "b", "c", "d") { #expect($0 == ["start a"]) }
        #expect(configured(script, host: 3) == ["start b", "start c"])
    }

    @Test func aLowerLimitStopsNothingAndStartsNothingUntilItIsKept() {
        let script = StateScript(transferLimit: 3)
        script.caller("reader", wants: "a", "b", "c", "d") {
            #expect($0 == ["start a", "start b", "start c"])
        }
        #expect(configured(script, transfers: 1) == [])
        #expect(script.finishes("a") == ["publish a"])
        #expect(script.finishes("b") == ["publish b"])
        #expect(Set(script.finishes("c")) == ["start d", "publish c"])
    }

    @Test func rememberedFailuresAreForgotten() {
        let script = StateScript(retry: RetryPolicy())
        script.caller("first", wants: "a")
        let failed = FailedTransfer(failure: Failure(.notAnImage, ""))
        #expect(script.fails("a", failed, now: Sample.moment) == ["tell first: a notAnImage"])
        script.caller("second", wants: "a") { #expect($0 == ["tell second: a notAnImage"]) }
        _ = configured(script, retry: RetryPolicy())
        script.caller("third", wants: "a") { #expect($0 == ["start a"]) }
    }
}
