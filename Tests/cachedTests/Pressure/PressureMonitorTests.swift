import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

@testable import cached

/// The monitor on real descriptors.
@Suite(.timeLimit(.minutes(1))) struct PressureMonitorTests {
    typealias Reaction = PressureRecorder.Reaction

    /// Makes a FIFO and opens it for writing. mkfifo(3).
    private func makeFIFO(in scope: TestScope) throws -> (path: String, writer: FileHandle) {
        let path = try TemporaryDirectory(in: scope).file("pressure")
        try #require(mkfifo(path, 0o600) == 0)
        let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        return (path, FileHandle(fileDescriptor: descriptor, closeOnDealloc: true))
    }

    @Test func aByteIntoTheFIFOIsOneWarning() async throws {
        try await withTestScope { scope in
            let (path, writer) = try makeFIFO(in: scope)
            let recorder = PressureRecorder(["MEMORY_PRESSURE_WATCH": path], in: scope)
            let source = "MEMORY_PRESSURE_WATCH \(path)"
            #expect(recorder.monitor.source == source)
            try writer.write(contentsOf: [1])
            #expect(try await recorder.next() == Reaction(level: .warning, source: source))
            try await recorder.expectNothing()
        }
    }

    @Test func whatTheDaemonWroteItselfIsNoPressure() async throws {
        try await withTestScope { scope in
            let (path, writer) = try makeFIFO(in: scope)
            let recorder = PressureRecorder(
                ["MEMORY_PRESSURE_WATCH": path, "MEMORY_PRESSURE_WRITE": "aGVsbG8="], in: scope)
            try await recorder.expectNothing()
            try writer.write(contentsOf: Array("hello".utf8))
            #expect(try await recorder.next().level == .warning)
            try await recorder.expectNothing()
        }
    }

    @Test func aByteInTheCoolDownIsAnsweredAtItsEnd() async throws {
        try await withTestScope { scope in
            let (path, writer) = try makeFIFO(in: scope)
            let coolDown = Duration.milliseconds(300)
            let recorder = PressureRecorder(
                ["MEMORY_PRESSURE_WATCH": path], coolDown: coolDown, in: scope)
            let began = ContinuousClock.now
            try writer.write(contentsOf: [1])
            _ = try await recorder.next()
            try writer.write(contentsOf: [1])
            _ = try await recorder.next()
            #expect(ContinuousClock.now - began >= coolDown)
        }
    }

    @Test func aSocketTellsTooAndItsEndLeadsToTheNextSource() async throws {
        try await withTestScope { scope in
            let path = try TemporaryDirectory(in: scope).file("pressure.sock")
            let listener = try UnixListener(path)
            let recorder = PressureRecorder(
                ["MEMORY_PRESSURE_WATCH": path, "MEMORY_PRESSURE_WRITE": "aGk="], in: scope)
            let manager = try listener.accept()
            #expect(try manager.read(upToCount: 2) == Data("hi".utf8))
            try manager.write(contentsOf: [1])
            #expect(try await recorder.next().level == .warning)
            try manager.close()
            try await recorder.expectNothing()
            #expect(recorder.monitor.source != "MEMORY_PRESSURE_WATCH \(path)")
        }
    }

    @Test func whatCannotBeOpenedIsPassedOver() async throws {
        try await withTestScope { scope in
            let directory = try TemporaryDirectory(in: scope)
            let plain = try directory.write("hello", to: "plain")
            for path in [plain, directory.path, directory.file("absent")] {
                let recorder = PressureRecorder(["MEMORY_PRESSURE_WATCH": path], in: scope)
                #expect(!recorder.monitor.source.hasPrefix("MEMORY_PRESSURE_WATCH"))
            }
        }
    }

    @Test func offMeansOffButPeopleMayAsk() async throws {
        try await withTestScope { scope in
            let recorder = PressureRecorder(["MEMORY_PRESSURE_WATCH": "/dev/null"], in: scope)
            #expect(recorder.monitor.source == "off")
            recorder.monitor.request(.critical, source: "SIGUSR2")
            let reaction = try await recorder.next()
            #expect(reaction == Reaction(level: .critical, source: "SIGUSR2"))
        }
    }

    @Test func aRequestAnsweredElsewhereBeginsTheCoolDown() async throws {
        try await withTestScope { scope in
            let (path, writer) = try makeFIFO(in: scope)
            let recorder = PressureRecorder(
                ["MEMORY_PRESSURE_WATCH": path], coolDown: .seconds(3600), in: scope)
            recorder.monitor.requested(.warning)
            try writer.write(contentsOf: [1])
            try await recorder.expectNothing()
        }
    }

    @Test func aSleepingMonitorStopsAtOnce() async throws {
        try await withTestScope { scope in
            let recorder = PressureRecorder(["MEMORY_PRESSURE_WATCH": "/dev/null"], in: scope)
            let took = ContinuousClock().measure { recorder.monitor.stop() }
            #expect(took < .seconds(1))
        }
    }

    @Test(.enabled(if: PressureFile.machine.isThere, "the kernel keeps no pressure figures"))
    func armingOnTheMachineIsNoPressure() async throws {
        try await withTestScope { scope in
            let before = try PressureFile.machine.totals()
            let recorder = PressureRecorder([:], in: scope)
            #expect(recorder.monitor.source.hasPrefix(PressureSource.machine))
            // A stall that is shorter than the threshold may end the wait; it must not be answered.
            try await PressureFile.machine.unguardedEvent(within: .seconds(3))
            let reactions = try await recorder.untilNow()
            let grown = try PressureFile.machine.totals().some - before.some
            #expect(reactions.isEmpty || grown >= PressureTrigger.warning.stall)
        }
    }

    @Test func theAllocatorGivesBackWithoutHarm() {
        ProcessMemory.giveBack()
    }
}

/// A listening Unix socket. unix(7).
private struct UnixListener {
    private let descriptor: Int32

    init(_ path: String) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let bound = withUnsafeBytes(of: &address) { bytes in
            bind(
                listener, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                socklen_t(bytes.count))
        }
        try #require(bound == 0 && listen(listener, 1) == 0)
        descriptor = listener
    }

    /// Takes the connection that waits, and listens no more. accept(2).
    func accept() throws -> FileHandle {
        let connection = Glibc.accept(descriptor, nil, nil)
        try #require(connection >= 0)
        close(descriptor)
        return FileHandle(fileDescriptor: connection, closeOnDealloc: true)
    }
}
