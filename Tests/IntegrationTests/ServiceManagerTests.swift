import Dispatch
import Glibc
import TestSupport
import Testing

/// The reports to the service manager: ready, reloading, stopping, and signs of life.
@Suite("Service manager", .serialized, .timeLimit(.minutes(5)))
struct ServiceManagerTests {
    @Test(arguments: [false, true])
    func theManagerHearsEveryChange(isAbstract: Bool) async throws {
        try await withTestScope { scope in
            let manager = try NotifyListener(isAbstract: isAbstract, in: scope)
            let home = try TemporaryDirectory(in: scope)
            let file = try home.write("CACHED_MAX_ENTRIES=5\n", to: "cached.conf")
            var options = DaemonFixture.Options()
            options.arguments = ["--config", file]
            options.environment = ["NOTIFY_SOCKET": manager.address]
            options.waitsUntilReady = false
            let daemon = try await DaemonFixture.start(options, in: scope)
            let ready = try await manager.waitForMessage("READY=1")
            #expect(ready.hasPrefix("READY=1\nSTATUS=Serving "))
            // Ready means that the first call is answered.
            #expect(try await daemon.ask(call("Stats")).error == nil)

            try await manager.waitForMessage("STATUS=Serving 0 images of 0 MB")

            let before = monotonicMicroseconds()
            daemon.process.signal(SIGHUP)
            try await manager.waitForMessage("READY=1", count: 2)
            let reloading = try await manager.waitForMessage("RELOADING=1")
            let lines = reloading.split(separator: "\n")
            #expect(lines.first == "RELOADING=1" && lines.count == 2)
            let time = lines.last?.wholeMatch(of: /MONOTONIC_USEC=(\d+)/).flatMap { Int($0.1) }
            let after = monotonicMicroseconds()
            #expect((before...after).contains(try #require(time)))

            try home.write("CACHED_MAX_ENTRIES=many\n", to: "cached.conf")
            daemon.process.signal(SIGHUP)
            let failed = try await manager.waitForMessage("READY=1", count: 3)
            #expect(failed.contains("STATUS=The configuration is invalid and was not applied"))
            #expect(failed.contains("CACHED_MAX_ENTRIES"))

            try await daemon.stop()
            let last = try await manager.waitForMessage("STOPPING=1")
            #expect(manager.messages.last == last)
            #expect(manager.count("WATCHDOG=1") == 0, "it did not ask for them")
        }
    }

    /// A loop that hangs, or a process that is stopped, must not look well.
    @Test(arguments: ["NIO-ELT", "transfers", "all"])
    func aDaemonThatHangsGivesNoSignOfLife(thread: String) async throws {
        try await withTestScope { scope in
            let manager = try NotifyListener(in: scope)
            let daemon = try await DaemonFixture.start(
                environment: ["NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "100000"],
                in: scope)
            try await manager.waitForMessage("WATCHDOG=1", count: 3)
            // Another daemon measures the time in which this one would have given signs.
            let other = try NotifyListener(in: scope)
            let frozen: FrozenThread?
            if thread == "all" {
                frozen = nil
                daemon.process.signal(SIGSTOP)
                try await waitUntil("the stop") {
                    let status = try contents(of: "/proc/\(daemon.process.pid)/status")
                    return String(decoding: status, as: UTF8.self).contains("State:\tT")
                }
            } else {
                frozen = try await FrozenThread(of: daemon.process, named: thread)
            }
            let reference = try await DaemonFixture.start(
                environment: ["NOTIFY_SOCKET": other.address, "WATCHDOG_USEC": "100000"], in: scope)
            // A turn that was complete just before can still be reported.
            try await other.waitForMessage("WATCHDOG=1", count: 2)
            let count = manager.count("WATCHDOG=1")
            try await other.waitForMessage("WATCHDOG=1", count: 12)
            #expect(manager.count("WATCHDOG=1") == count)

            if let frozen { try await frozen.thaw() } else { daemon.process.signal(SIGCONT) }
            try await manager.waitForMessage("WATCHDOG=1", count: count + 3)
            try await reference.stop()
            try await daemon.stop()
        }
    }

    @Test func aWatchdogOfAnotherProcessIsNotFed() async throws {
        try await withTestScope { scope in
            let manager = try NotifyListener(in: scope)
            let daemon = try await DaemonFixture.start(
                environment: [
                    "NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "10000", "WATCHDOG_PID": "1",
                ], in: scope)
            for count in 2...20 {
                daemon.process.signal(SIGHUP)
                try await manager.waitForMessage("READY=1", count: count)
            }
            try await daemon.stop()
            try await manager.waitForMessage("STOPPING=1")
            #expect(manager.count("WATCHDOG=1") == 0)
        }
    }

    @Test func aManagerThatCannotBeReachedIsNoObstacle() async throws {
        try await withTestScope { scope in
            for address in ["vsock:2:1234", "/nonexistent/notify", ""] {
                let daemon = try await DaemonFixture.start(
                    environment: ["NOTIFY_SOCKET": address], in: scope)
                #expect(try await daemon.ask(call("Stats")).error == nil)
                try await daemon.stop()
                #expect(daemon.log.contains("NOTIFY_SOCKET") == address.hasPrefix("vsock"))
            }
        }
    }

    /// CLOCK_MONOTONIC, clock_gettime(2).
    private func monotonicMicroseconds() -> Int {
        Int(DispatchTime.now().uptimeNanoseconds / 1000)
    }
}
