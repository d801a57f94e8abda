import CacheKey
import Glibc
import TestSupport
import Testing

/// A start in which a system call fails either works or reports the reason in one line.
@Suite(
    "Faults at the start", .serialized, .timeLimit(.minutes(60)),
    .enabled("strace(1) is missing, or is not permitted to trace other processes") {
        try await Strace.isPermitted()
    },
    .disabled(if: isSanitized, "the faults would hit the sanitizer's own start"))
struct FaultyStartTests {
    @Test func aFailedSystemCallAtStartIsSurvivedOrReported() async throws {
        try await Promise("a start in which a call fails works or reports why").test { figures in
            try await withTestScope { scope in
                let origin = try FaultyDaemon.origin(in: scope)
                let first = FaultyDaemon(try await DaemonFixture.start(in: scope), origin)
                _ = try await first.fetch(first.urls("first"))
                try await first.daemon.stop()
                var tally = (faults: 0, refusals: 0)
                for (index, faults) in SyscallFaults.atStart.enumerated() {
                    guard isLongForm || UInt64(index) % 4 == testSeed % 4 else { continue }
                    let before = tally.faults
                    for errno in isLongForm ? faults.errnos : [faults.errnos[0]] {
                        for nth in 1...(isLongForm ? 4 : 1) {
                            let fault = Strace.Fault(call: faults.call, errno: errno, nth: nth)
                            let start = FaultyStart(
                                fault, first.daemon.directory, origin,
                                having: first.urls("first"))
                            let isUp: Bool?
                            do {
                                isUp = try await start.isUp()
                            } catch {
                                throw TestFailure("\(fault): \(error)")
                            }
                            guard let isUp else { break }
                            tally.faults += 1
                            if !isUp { tally.refusals += 1 }
                        }
                    }
                    guard tally.faults > before else {
                        throw TestFailure("the start never called \(faults.call)")
                    }
                }
                let last = FaultyDaemon(try await first.daemon.restart(), origin)
                try await last.expectWhole(last.urls("first"))
                try await last.expectLedgerMatchesDisk()
                figures += ["\(tally.faults) faults", "\(tally.refusals) refused starts"]
            }
        }
    }
}

/// One start under strace(1), which counts the calls of each thread separately.
private struct FaultyStart {
    private let fault: Strace.Fault
    private let directory: String
    private let origin: ScriptedOrigin
    /// URLs of the images in the directory.
    private let existing: [String]

    init(
        _ fault: Strace.Fault, _ directory: String, _ origin: ScriptedOrigin, having urls: [String]
    ) {
        self.fault = fault
        self.directory = directory
        self.origin = origin
        existing = urls
    }

    /// Whether the daemon served; `nil` if no call failed. A daemon that does not start must report why.
    func isUp() async throws -> Bool? {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let log = home.file("log")
            let socket = home.file("s")
            // -D makes the tracer a grandchild, so that the daemon is our own child.
            let arguments = ["-D", "-f", "-o", log] + fault.arguments
            let daemon = try ChildProcess(
                "strace",
                arguments + [
                    BuiltProducts.program("cached"), "--directory", directory, "--socket", socket,
                    "--allow-network", "127.0.0.0/8",
                ],
                environment: minimalEnvironment([
                    "HOME": home.path, "MEMORY_PRESSURE_WATCH": "/dev/null", "CACHED_ATTEMPTS": "1",
                ]), in: scope)
            var isUp = true
            do {
                try await daemon.waitForSocket(socket)
            } catch {
                isUp = false
                try expectReason(daemon)
            }
            if isUp { try await serve(daemon, socket, in: scope) }
            return try Strace.lines(of: log).showFault ? isUp : nil
        }
    }

    private func serve(_ daemon: ChildProcess, _ socket: String, in scope: TestScope) async throws {
        let url = origin.url("/0.png?\(fault.call)-\(fault.errno)-\(fault.nth)")
        let connection = try VarlinkConnection(socket, in: scope)
        func ask(_ method: String, _ urls: [String]) async throws -> String {
            try await connection.call(
                #"{"method":"io.cached.Cache.\#(method)","parameters":{"urls":\#(urls)}}"#)
        }
        // In spite of the fault, the daemon knows exactly which images exist.
        let answer = try await ask("Status", existing + [url])
        let states = answer.matches(of: /"state":"(\w+)"/).map(\.output.1)
        guard states == existing.map({ _ in "cached" }) + ["missing"] else {
            throw TestFailure(answer)
        }
        // If the disk is full, the oldest images are evicted for the newest.
        for urls in [[url], existing] {
            let answer = try await ask("Fetch", urls)
            guard answer.contains(#""cached""#) || answer.contains(#""failure""#) else {
                throw TestFailure(answer)
            }
        }
        daemon.signal(SIGTERM)
        let status = try await daemon.waitForExit()
        guard status == .success else {
            throw TestFailure("\(status): \(daemon.text(.standardError))")
        }
    }

    /// The reason in one line, and an exit status that says the same to programs.
    private func expectReason(_ daemon: ChildProcess) throws {
        let reason = daemon.text(.standardError)
        let lines = reason.split(separator: "\n").filter { $0.hasPrefix("cached: ") }
        guard let code = daemon.exitStatus?.code, [73, 77].contains(code), lines.count == 1,
            lines[0].contains(";")
        else {
            throw TestFailure(
                "\(daemon.exitStatus.map(\.description) ?? "?"): \(reason)")
        }
    }
}
