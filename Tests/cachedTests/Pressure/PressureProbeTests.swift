import CacheWire
import TestSupport
import Testing

@testable import cached

/// The parts of the probes that do no I/O: they recognise pressure, and events that only look like it.
@Suite struct PressureProbeTests {
    // MARK: Triggers and totals

    @Test func theLineForTheKernelEndsWithNUL() {
        #expect(PressureTrigger.warning.line == Array("some 200000 2000000\0".utf8))
        #expect(PressureTrigger.critical.line == Array("full 200000 2000000\0".utf8))
    }

    @Test(arguments: ["", "\0", "\n", "\n\0"])
    func aLineIsReadWithOrWithoutItsEnd(end: String) {
        let text = "some 200000 2000000" + end
        #expect(PressureTrigger(line: Array(text.utf8), level: .warning) == .warning)
    }

    @Test(arguments: [
        "", "\0", "some", "some 1", "none 1 2", "some 0 2000000", "some 2000001 2000000",
        "some -1 2000000",
        "some 200000 499999",
        "some 200000 10000001", "some 200000 2000000 1", "some 0000000000000200000 2000000",
        "full a b", "some 200000 b",
    ])
    func aLineThatTheKernelWouldRefuseIsRefused(text: String) {
        #expect(PressureTrigger(line: Array(text.utf8), level: .warning) == nil)
    }

    @Test(arguments: [
        ("some 50000 500000", "some 200000 2000000"),
        ("full 300000 3000000", "full 400000 4000000"),
        ("some 9999999 9999999", "some 10000000 10000000"), ("some 1 500001", "some 3 2000000"),
    ])
    func aLongerWindowHasTheSameShare(text: String, longer: String) throws {
        let trigger = try #require(PressureTrigger(line: Array(text.utf8), level: .warning))
        #expect(trigger.unprivileged?.line == Array("\(longer)\0".utf8))
        #expect(trigger.unprivileged?.unprivileged == nil)
    }

    @Test func totalsAreReadFromAPressureFile() throws {
        let text = """
            some avg10=0.00 avg60=1.29 avg300=0.06 total=184446
            full avg10=0.00 avg60=0.29 avg300=0.06 total=71644

            """
        let totals = try #require(StallTotals(text))
        #expect(totals[.some] == .microseconds(184_446))
        #expect(totals[.full] == .microseconds(71_644))
    }

    @Test(arguments: ["", "some total=1", "some total=x\nfull total=1", "hello\nworld"])
    func anyOtherTextIsNotAPressureFile(text: String) {
        #expect(StallTotals(text) == nil)
    }

    /// Arming a trigger would write into the file.
    @Test func anOrdinaryFileWithTheSameContentsIsNotWritten() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let line = "avg10=0.00 avg60=0.00 avg300=0.00 total=1\n"
            let text = "some \(line)full \(line)"
            try home.write(text, to: "pressure")
            #expect(throws: PressureFailure.self) {
                _ = try StallProbe(path: home.file("pressure"), .warning)
            }
            #expect(try contents(of: home.file("pressure")) == Array(text.utf8))
        }
    }

    // MARK: False events of the kernel

    private func totals(some: Int, full: Int = 0) -> StallTotals {
        StallTotals(some: .milliseconds(some), full: .milliseconds(full))
    }

    @Test func aFalseFirstEventDoesNotCount() {
        var stalls = StallGuard(.warning, totals(some: 1_050_000))
        let short = stalls.eventArrived(totals(some: 1_050_005))
        #expect(!short)
        let none = stalls.eventArrived(totals(some: 1_050_005))
        #expect(!none)
    }

    @Test func growthByTheThresholdCountsOnce() {
        var stalls = StallGuard(.warning, totals(some: 5000))
        let script = [(5199, false), (5200, true), (5200, false), (5399, false), (5401, true)]
        for (total, isTrue) in script {
            let answer = stalls.eventArrived(totals(some: total))
            #expect(answer == isTrue, "at \(total)")
        }
    }

    @Test func eachLevelUsesItsOwnTotal() {
        var stalls = StallGuard(.critical, totals(some: 0, full: 0))
        let some = stalls.eventArrived(totals(some: 900, full: 100))
        #expect(!some)
        let full = stalls.eventArrived(totals(some: 1000, full: 200))
        #expect(full)
    }

    @Test func aSmallerTotalIsANewBase() {
        var stalls = StallGuard(.warning, totals(some: 5000))
        let script = [(100, false), (250, false), (300, true)]
        for (total, isTrue) in script {
            let answer = stalls.eventArrived(totals(some: total))
            #expect(answer == isTrue, "at \(total)")
        }
    }

    // MARK: Reading at intervals

    @Test func tenQuietMinutesOfReadingAreNotPressure() {
        let start = ContinuousClock.now
        var samples = StallSamples([.warning, .critical], totals(some: 70_000), now: start)
        #expect(samples.interval == .seconds(2))
        for step in 1...300 {
            // Some waiting is normal: 5 ms in each interval, 1.5 s in total.
            let now = start + .seconds(2 * step)
            #expect(samples.taken(totals(some: 70_000 + 5 * step), now: now) == nil)
        }
    }

    @Test func anIntervalHasItsWorstLevel() {
        let start = ContinuousClock.now
        var samples = StallSamples([.warning, .critical], totals(some: 0), now: start)
        let script: [(some: Int, full: Int, level: PressureLevel?)] = [
            (199, 0, nil), (399, 199, .warning), (600, 399, .critical), (600, 399, nil),
        ]
        for (step, line) in script.enumerated() {
            let now = start + .seconds(2 * (step + 1))
            let level = samples.taken(totals(some: line.some, full: line.full), now: now)
            #expect(level == line.level, "at \(now - start)")
        }
    }

    @Test func aLateReadingSpreadsTheWaitingEvenly() {
        let start = ContinuousClock.now
        var samples = StallSamples([.warning], totals(some: 0), now: start)
        let afterSleep = samples.taken(totals(some: 900), now: start + .seconds(10))
        #expect(afterSleep == nil)
        let busy = samples.taken(totals(some: 1900), now: start + .seconds(20))
        #expect(busy == .warning)
    }

    // MARK: The echo

    @Test(arguments: [
        (["hello"], [false]),
        (["hel", "lo"], [false, false]),
        (["hello", "hello"], [false, true]),
        (["hellox"], [true]), (["xhello"], [true]), (["xhello", "y"], [true, true]),
        (["x", "hello", "y"], [true, false, true]),
        (["xhel", "lo"], [true, false]),
        (["hehello"], [true]),
        (["he", "hello"], [false, true]),
        (["help", "hello"], [true, false]),
    ])
    func exactlyTheWrittenBytesAreDiscardedOnce(reads: [String], pressure: [Bool]) {
        var echo = OwnEcho(of: Array("hello".utf8))
        let answers = reads.map { echo.received(Array($0.utf8)) }
        #expect(answers == pressure)
    }

    @Test func nothingIsDiscardedIfNothingWasWritten() {
        var echo = OwnEcho(of: [])
        let byte = echo.received([0])
        #expect(byte)
        let nothing = echo.received([])
        #expect(!nothing)
    }
}
