import CacheCore
import CacheWire
import Synchronization
import TestSupport
import Testing

@testable import cached

private final class CallCount: Sendable {
    let count = Mutex(0)
}

/// The monitor with real descriptors.
@Suite(.timeLimit(.minutes(5))) struct PressureMonitorTests {
    @Test func aByteInTheFIFOIsOneWarning() async throws {
        try await withTestScope { scope in
            let fifo = try FIFO(in: scope)
            let recorder = PressureRecorder(["MEMORY_PRESSURE_WATCH": fifo.path], in: scope)
            let source = "MEMORY_PRESSURE_WATCH \(fifo.path)"
            #expect(recorder.monitor.source == source)
            try fifo.write("x")
            let report = PressureReport(level: .warning, cause: .serviceManager, source: source)
            #expect(try await recorder.next() == report)
            try await recorder.expectNothing()
        }
    }

    /// A stall in a pressure file is found, also if the service manager names the file: the memory decides what is evicted.
    @Test(.enabled(if: StallGroup.obstacle == nil, "\(StallGroup.obstacle ?? "")"))
    func aStallInTheServiceManagersFileIsFound() async throws {
        try await withTestScope { scope in
            let group = try StallGroup(in: scope)
            let recorder = PressureRecorder(
                ["MEMORY_PRESSURE_WATCH": group.pressure.path], in: scope)
            try await group.stall()
            #expect(try await recorder.next().cause == .daemon)
            try group.end()
        }
    }

    /// A closure that is stored under a lock can grow by a layer with each call, until the stack overflows.
    @Test func aReportCostsTheSameHoweverManyThereWere() async throws {
        try await withTestScope { scope in
            let recorder = PressureRecorder(["MEMORY_PRESSURE_WATCH": "/dev/null"], in: scope)
            let calls = CallCount()
            recorder.monitor.observe { calls.count.withLock { $0 += 1 } }
            for _ in 0..<100_000 { recorder.monitor.rose(.warning, validFor: nil) }
            #expect(calls.count.withLock { $0 } == 100_000)
        }
    }

    @Test func bytesWrittenByTheDaemonAreNotPressure() async throws {
        try await withTestScope { scope in
            let fifo = try FIFO(in: scope)
            let recorder = PressureRecorder(
                ["MEMORY_PRESSURE_WATCH": fifo.path, "MEMORY_PRESSURE_WRITE": "aGVsbG8="], in: scope
            )
            try await recorder.expectNothing()
            try fifo.write("hello")
            #expect(try await recorder.next().level == .warning)
            try await recorder.expectNothing()
        }
    }

    @Test func aByteDuringTheCoolDownCausesAReactionAtItsEnd() async throws {
        try await withTestScope { scope in
            let fifo = try FIFO(in: scope)
            let coolDown = Duration.milliseconds(300)
            let recorder = PressureRecorder(
                ["MEMORY_PRESSURE_WATCH": fifo.path], coolDown: coolDown, in: scope)
            let began = ContinuousClock.now
            try fifo.write("x")
            _ = try await recorder.next()
            try fifo.write("x")
            _ = try await recorder.next()
            #expect(ContinuousClock.now - began >= coolDown)
        }
    }

    @Test func aSocketReportsPressureAndItsEndLeadsToTheNextSource() async throws {
        try await withTestScope { scope in
            let listener = try UnixListener(in: scope)
            let recorder = PressureRecorder(
                ["MEMORY_PRESSURE_WATCH": listener.path, "MEMORY_PRESSURE_WRITE": "aGk="], in: scope
            )
            let manager = try await listener.accept()
            #expect(try await manager.read(2) == "hi")
            try await manager.write("x")
            #expect(try await recorder.next().level == .warning)
            manager.shutdown()
            try await recorder.expectNothing()
            #expect(recorder.monitor.source != "MEMORY_PRESSURE_WATCH \(listener.path)")
        }
    }

    @Test func aSourceThatCannotBeOpenedIsSkipped() async throws {
        try await withTestScope { scope in
            let directory = try TemporaryDirectory(in: scope)
            let plain = try directory.write("hello", to: "plain")
            for path in [plain, directory.path, directory.file("absent")] {
                let recorder = PressureRecorder(["MEMORY_PRESSURE_WATCH": path], in: scope)
                #expect(!recorder.monitor.source.hasPrefix("MEMORY_PRESSURE_WATCH"))
            }
        }
    }

    @Test func requestsWorkWhileTheWatchIsOff() async throws {
        try await withTestScope { scope in
            let recorder = PressureRecorder(["MEMORY_PRESSURE_WATCH": "/dev/null"], in: scope)
            #expect(recorder.monitor.source == "off")
            recorder.monitor.request(.critical, source: "SIGUSR2")
            let next = try await recorder.next()
            #expect(next == PressureReport(level: .critical, cause: .person, source: "SIGUSR2"))
        }
    }

    @Test func aRequestWhoseCallerReactsStartsTheCoolDown() async throws {
        try await withTestScope { scope in
            let fifo = try FIFO(in: scope)
            let recorder = PressureRecorder(
                ["MEMORY_PRESSURE_WATCH": fifo.path], coolDown: .seconds(3600), in: scope)
            recorder.monitor.requested(.warning)
            try fifo.write("x")
            try await recorder.expectNothing()
        }
    }

    @Test func onlyHigherPressureActsDuringTheCoolDown() async throws {
        try await withTestScope { scope in
            let fifo = try FIFO(in: scope)
            let recorder = PressureRecorder(
                ["MEMORY_PRESSURE_WATCH": fifo.path], coolDown: .seconds(3600), in: scope)
            try fifo.write("x")
            #expect(try await recorder.next().level == .warning)
            try fifo.write("x")
            recorder.monitor.request(.critical, source: "SIGUSR2")
            #expect(try await recorder.next().level == .critical)
            // The critical reaction has covered the byte too.
            try await recorder.expectNothing()
        }
    }

    @Test func aSleepingMonitorStopsAtOnce() async throws {
        try await withTestScope { scope in
            let recorder = PressureRecorder(["MEMORY_PRESSURE_WATCH": "/dev/null"], in: scope)
            let watch = Stopwatch()
            recorder.monitor.stop()
            #expect(watch.time < .seconds(1))
        }
    }

    @Test(.enabled(if: PressureFile.machine.isThere, "the kernel has no pressure files"))
    func armingATriggerIsNotPressure() async throws {
        try await withTestScope { scope in
            let before = try PressureFile.machine.waited()
            let recorder = PressureRecorder([:], in: scope)
            #expect(recorder.monitor.source.hasPrefix(PressureSource.machine))
            // A stall below the threshold can end the wait, but must not cause a reaction.
            try await PressureFile.machine.unguardedEvent(within: .seconds(3))
            let reactions = try await recorder.untilNow()
            let grown = try PressureFile.machine.waited() - before
            #expect(reactions.isEmpty || grown >= PressureTrigger.warning.stall)
        }
    }

    @Test func givingMemoryBackDoesNoHarm() {
        ProcessMemory.giveBack()
    }
}
