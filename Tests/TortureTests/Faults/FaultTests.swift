import CacheWire
import Glibc
import TestSupport
import Testing

/// Any system call may fail, and a failure costs at most one download.
///
/// Here strace(1) makes calls of the built daemon fail, including those of libcurl and of the event loop:
/// the first call of a kind, the second, and so on, until the work completes without a fault.
/// `EveryCallTortureTests` covers the calls on the directory: it injects thousands of faults inside the
/// process.
@Suite(
    "Faults", .serialized, .timeLimit(.minutes(60)),
    .enabled("strace(1) is missing, or is not permitted to trace other processes") {
        try await Strace.isPermitted()
    })
struct FaultTests {
    /// The largest n for which the n-th call fails; event loops make some calls without end.
    private static let last = 6
    /// How many rounds a fault that must occur may be missed.
    private static let tries = 10

    @Test func aFailedSystemCallLosesAtMostOneDownload() async throws {
        try await Promise("every system call may fail").test { figures in
            try await withTestScope { scope in
                figures += try await strike(chosen(SyscallFaults.all), in: scope)
            }
        }
    }

    /// A batch of many images is committed on a separate thread.
    @Test func aFailedSystemCallInABatchCommitLosesAtMostOneImage() async throws {
        try await Promise("every system call of a commit may fail").test { figures in
            try await withTestScope { scope in
                figures += try await strike(
                    SyscallFaults.ofCommits, copies: 16, mustStrike: true, in: scope)
            }
        }
    }

    /// Makes each of these calls fail while a daemon downloads every image under `copies` names. Returns
    /// the figures.
    private func strike(
        _ all: [SyscallFaults], copies: Int = 1, mustStrike: Bool = false, in scope: TestScope
    ) async throws -> [String] {
        let origin = try FaultyDaemon.origin(in: scope)
        var options = DaemonFixture.Options()
        options.arguments = ["--max-transfers-per-host", "64"]
        // On tmpfs a small image has no name until it is published; a large one has a partial.
        options.directory = try TemporaryDirectory(inMemory: scope).file("cache")
        var daemon = FaultyDaemon(try await DaemonFixture.start(options, in: scope), origin)
        var round = FaultRound(copies: copies, in: scope)
        for faults in all {
            let before = round.faults
            let errnos = isLongForm ? faults.errnos : [faults.errnos[before % faults.errnos.count]]
            // Chance decides how many images arrive together, and so which thread commits them.
            for _ in 0..<(mustStrike ? Self.tries : 1) where round.faults == before {
                for errno in errnos {
                    try await round.fail(faults, errno, upTo: isLongForm ? Self.last : 1, daemon)
                }
            }
            if mustStrike || isLongForm, round.faults == before {
                throw TestFailure("\(faults.thread) never called \(faults.call)")
            }
            try await daemon.expectLedgerMatchesDisk()
        }
        try daemon.expectHelpfulLog()
        // Images evicted because the disk was reported as full.
        let evicted = try await daemon.metric("evicted")
        // Fails if the daemon has crashed.
        try await daemon.daemon.stop()
        daemon = FaultyDaemon(try await daemon.daemon.restart(), origin)
        try await daemon.expectWhole(round.kept, butFor: evicted)
        try await daemon.expectLedgerMatchesDisk()
        if isLongForm { for line in round.tally { print("torture: \(line)") } }
        return ["\(round.faults) faults", "\(round.lost) downloads lost"]
    }

    /// The short form uses only some.
    private func chosen(_ all: [SyscallFaults]) -> [SyscallFaults] {
        guard !isLongForm else { return all }
        var random = SeededGenerator(seed: testSeed)
        let some = Set(all.indices.shuffled(using: &random).prefix(8))
        return all.indices.filter { some.contains($0) }.map { all[$0] }
    }
}

/// A series of faults on one daemon.
private struct FaultRound {
    /// The number of names under which each image is fetched at a time.
    private let copies: Int
    private let scope: TestScope
    private var counts: [String: Int] = [:]
    private(set) var lost = 0
    /// Every URL that was fetched.
    private(set) var urls: [String] = []
    /// The URLs whose removal was requested.
    private var removed: Set<String> = []
    /// The URLs whose images must exist in the end.
    var kept: [String] { urls.filter { !removed.contains($0) } }

    init(copies: Int, in scope: TestScope) {
        self.copies = copies
        self.scope = scope
    }

    var faults: Int { counts.values.reduce(0, +) }

    /// One line for each kind of fault, with its count.
    var tally: [String] { counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" } }

    mutating func fail(
        _ faults: SyscallFaults, _ errno: String, upTo last: Int, _ daemon: FaultyDaemon
    ) async throws {
        for nth in 1...last {
            let fault = Strace.Fault(call: faults.call, errno: errno, nth: nth)
            do {
                guard try await strikes(fault, faults.thread, daemon) else { return }
            } catch {
                throw TestFailure("\(faults.thread): \(fault): \(error)")
            }
            counts["\(faults.thread) \(faults.call) \(errno)", default: 0] += 1
        }
    }

    /// Downloads while a call fails. Returns whether the fault occurred.
    private mutating func strikes(
        _ fault: Strace.Fault, _ thread: String, _ daemon: FaultyDaemon
    ) async throws -> Bool {
        let wanted = daemon.urls("\(urls.count)", copies: copies)
        if let old = urls.last { removed.insert(old) }
        let before = try await daemon.metric("evicted")
        let (items, lines) = try await withTestScope { scope in
            let log = try TemporaryDirectory(in: scope).file("log")
            let strace = try await Strace(
                fault, on: daemon.thread(thread),
                tracing: fault.isSync ? ["openat", "unlinkat"] : [],
                log: log, in: scope)
            let items = try await daemon.withOtherRequests(for: wanted) { [old = urls.last] in
                let items = try await daemon.fetch(wanted)
                if let old {
                    _ = try await daemon.call(Methods.Remove.self, .init(urls: [old]))
                }
                return items
            }
            try await daemon.status(wanted)
            return (items, try await strace.detach())
        }
        let failed = items.filter { $0.state != .cached }
        guard failed.count <= 1 else {
            throw TestFailure("\(failed.count) downloads failed: \(failed)")
        }
        for item in failed { try expectHelp(item, daemon) }
        let evicted = try await daemon.metric("evicted") - before
        guard evicted == 0 || fault.saysFull else {
            throw TestFailure("\(evicted) images were evicted")
        }
        try await daemon.expectWhole(
            items.filter { $0.state == .cached }.map(\.url), butFor: evicted)
        try SyncLog(lines).expectNoSecondTry()
        // The daemon remembers a failure of the network, but a refresh asks again.
        _ = try await daemon.fetch(failed.map(\.url), refresh: true)
        for item in try await daemon.fetch(wanted) where item.state != .cached {
            throw TestFailure("a second fetch did not succeed: \(item)")
        }
        try await daemon.expectWhole(wanted)
        urls += wanted
        lost += failed.count
        return lines.showFault
    }

    /// The message names the problem, the affected path and a remedy.
    private func expectHelp(_ item: Item, _ daemon: FaultyDaemon) throws {
        guard let failure = item.failure else { throw TestFailure("no reason is given: \(item)") }
        let isLocal = failure.kind == "storage"
        let isClear =
            isLocal
            ? failure.message.contains(daemon.daemon.directory) && failure.message.contains(";")
            // If the connection breaks within an image, the image is truncated.
            : ["unreachable", "timeout", "truncated"].contains(failure.kind)
        guard isClear else { throw TestFailure("the message does not help: \(failure)") }
    }
}

extension Strace.Fault {
    fileprivate var isSync: Bool { call == "fsync" }
    /// The cache evicts other images only if the disk is full.
    fileprivate var saysFull: Bool { ["ENOSPC", "EDQUOT"].contains(errno) }
}

/// The file operations of the directory's thread, as logged by strace(1).
private struct SyncLog {
    private let lines: [Substring]

    init(_ lines: [Substring]) {
        self.lines = lines
    }

    /// A failed sync is never repeated on the same file: the kernel has marked its pages clean, so a second
    /// sync would wrongly succeed.
    func expectNoSecondTry() throws {
        var failed: Set<Substring> = []
        for line in lines {
            // An unnamed file is identified by its inode number, which can be reused.
            guard let name = line.firstMatch(of: /[0-9a-f-]{36}\.part|\/#\d+/)?.output else {
                continue
            }
            if line.hasPrefix("unlinkat") || line.hasPrefix("openat") { failed.remove(name) }
            guard line.hasPrefix("fsync") else { continue }
            guard !failed.contains(name) else { throw TestFailure("synced twice: \(line)") }
            if line.hasSuffix("(INJECTED)") { failed.insert(name) }
        }
    }
}
