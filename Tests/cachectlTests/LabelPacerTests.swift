import Testing

@testable import cachectl

@Suite struct LabelPacerTests {
    @Test func labelStaysLongEnoughToBeRead() {
        var pacer = LabelPacer()
        pacer.announced("a", now: .zero)
        pacer.announced("b", now: .milliseconds(10))
        #expect(pacer.label == "a")
        #expect(pacer.nextChange == .milliseconds(250))
        pacer.advanced(to: .milliseconds(249))
        #expect(pacer.label == "a")
        pacer.advanced(to: .milliseconds(250))
        #expect(pacer.label == "b")
        #expect(pacer.nextChange == nil)
    }

    @Test func onlyTheNewestLabelOfABurstWaits() {
        var pacer = LabelPacer()
        for step in 0..<1000 {
            pacer.announced("\(step)", now: .microseconds(step))
        }
        #expect(pacer.label == "0")
        pacer.advanced(to: .milliseconds(300))
        #expect(pacer.label == "999")
        #expect(pacer.nextChange == nil)
    }

    @Test func steadyStreamChangesTheLabelFourTimesASecond() {
        var pacer = LabelPacer()
        var shown: [String] = []
        for step in 0..<200 {
            pacer.announced("\(step)", now: .milliseconds(10 * step))
            if let label = pacer.label, label != shown.last { shown.append(label) }
        }
        #expect(shown == ["0", "25", "50", "75", "100", "125", "150", "175"])
    }

    @Test func lastLabelIsShownAndThenCleared() {
        var pacer = LabelPacer()
        pacer.announced("a", now: .zero)
        pacer.announced("b", now: .milliseconds(1))
        pacer.ended(now: .milliseconds(2))
        #expect(pacer.label == "a")
        pacer.advanced(to: .milliseconds(250))
        #expect(pacer.label == "b")
        #expect(pacer.nextChange == .milliseconds(500))
        pacer.advanced(to: .milliseconds(500))
        #expect(pacer.label == nil)
        #expect(pacer.nextChange == nil)
    }

    @Test func labelAfterTheEndStartsAgain() {
        var pacer = LabelPacer()
        pacer.announced("a", now: .zero)
        pacer.ended(now: .milliseconds(1))
        pacer.announced("b", now: .milliseconds(2))
        pacer.advanced(to: .milliseconds(250))
        #expect(pacer.label == "b")
        pacer.advanced(to: .seconds(9))
        #expect(pacer.label == "b")
    }

    @Test func endWithoutALabelShowsNone() {
        var pacer = LabelPacer()
        pacer.ended(now: .zero)
        #expect(pacer.label == nil && pacer.nextChange == nil)
    }
}
