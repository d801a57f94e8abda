import CacheWire
import Glibc
import TestSupport
import Testing

/// Every system call may fail: what a failure costs is at most one download.
///
/// Here the calls of the built daemon, those of libcurl and of the event loop too, made to fail by
/// strace(1): the first of a kind, the second, … until the work comes through untouched. Those on the
/// directory are failed from inside, by the thousand: `EveryCallTortureTests`.
@Suite(
    "Faults", .serialized, .timeLimit(.minutes(60)),
    .enabled("strace(1) is missing, or may not trace other processes here") {
        try await Strace.isPermitted()
    })
struct FaultTests {
    /// The nth call, at most; loops make some calls without end.
    private static let last = 6
    /// How often what has to strike may come in vain.
    private static let tries = 10

    @Test func aFailedSystemCallLosesAtMostOneDownload() async throws {
        try await Promise("every system call may fail").test { figures in
            try await withTestScope { scope in
                figures += try await strike(chosen(SyscallFaults.all), in: scope)
            }
        }
    }

    /// They have a thread of their own, once there are many images at a time.
    @Test func aFailedSystemCallInABatchCommitLosesAtMostOneImage() async throws {
        try await Promise("every system call of a commit may fail").test { figures in
            try await withTestScope { scope in
                figures += try await strike(
                    SyscallFaults.ofCommits, copies: 16, mustStrike: true, in: scope)
            }
        }
    }

    /// Makes each of these calls fail while a daemon downloads each image so many times; what came of it.
    private func strike(
        _ all: [SyscallFaults], copies: Int = 1, mustStrike: Bool = false, in scope: TestScope
    ) async throws -> [String] {
        let origin = try FaultyDaemon.origin(in: scope)
        var options = DaemonFixture.Options()
        options.arguments = ["--max-transfers-per-host", "64"]
        // There small images never have a name before that of their entry, large ones do.
        options.directory = try TemporaryDirectory(inMemory: scope).file("cache")
        var daemon = FaultyDaemon(try await DaemonFixture.start(options, in: scope), origin)
        var round = FaultRound(copies: copies, in: scope)
        for faults in all {
            let before = round.faults
            let errnos = isLongForm ? faults.errnos : [faults.errnos[before % faults.errnos.count]]
            // How many come at a time, and with it which thread commits them, is as it happens.
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
        // Those that went for others because a disk was said to be full.
        let evicted = try await daemon.metric("evicted")
        // A crash would show here.
        try await daemon.daemon.stop()
        daemon = FaultyDaemon(try await daemon.daemon.restart(), origin)
        try await daemon.expectWhole(round.kept, butFor: evicted)
        try await daemon.expectLedgerMatchesDisk()
        if isLongForm { for line in round.tally { print("torture: \(line)") } }
        return ["\(round.faults) faults", "\(round.lost) downloads lost"]
    }

    /// In the short form some.
    private func chosen(_ all: [SyscallFaults]) -> [SyscallFaults] {
        guard !isLongForm else { return all }
        var random = SeededGenerator(seed: testSeed)
        let some = Set(all.indices.shuffled(using: &random).prefix(8))
        return all.indices.filter { some.contains($0) }.map { all[$0] }
    }
}

/// Faults one after the other, on one daemon.
private struct FaultRound {
    /// Names each image is fetched under at a time.
    private let copies: Int
    private let scope: TestScope
    private var counts: [String: Int] = [:]
    private(set) var lost = 0
    /// Every URL that was fetched.
    private(set) var urls: [String] = []
    /// Those that were asked to be removed again.
    private var removed: Set<String> = []
    /// Those of images that have to be there in the end.
    var kept: [String] { urls.filter { !removed.contains($0) } }

    init(copies: Int, in scope: TestScope) {
        self.copies = copies
        self.scope = scope
    }

    var faults: Int { counts.values.reduce(0, +) }

    /// Lines of what was made to fail how often.
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

    /// Downloads while a call fails; whether it came.
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
        guard evicted == 0 || fault.saysFull else { throw TestFailure("\(evicted) evicted") }
        try await daemon.expectWhole(
            items.filter { $0.state == .cached }.map(\.url), butFor: evicted)
        try SyncLog(lines).expectNoSecondTry()
        for item in try await daemon.fetch(wanted) where item.state != .cached {
            throw TestFailure("not to be had again: \(item)")
        }
        try await daemon.expectWhole(wanted)
        urls += wanted
        lost += failed.count
        return lines.showFault
    }

    /// The message says what happened, to what, and what to do.
    private func expectHelp(_ item: Item, _ daemon: FaultyDaemon) throws {
        guard let failure = item.failure else { throw TestFailure("no reason: \(item)") }
        let isLocal = failure.kind == "storage"
        let isClear =
            isLocal
            ? failure.message.contains(daemon.daemon.directory) && failure.message.contains(";")
            // Amid an image the connection's end is the image's.
            : ["unreachable", "timeout", "truncated"].contains(failure.kind)
        guard isClear else { throw TestFailure("that is no help: \(failure)") }
    }
}

extension Strace.Fault {
    fileprivate var isSync: Bool { call == "fsync" }
    /// Others go where the disk is full.
    fileprivate var saysFull: Bool { ["ENOSPC", "EDQUOT"].contains(errno) }
}

/// What the directory's thread did to files, as strace(1) has it.
private struct SyncLog {
    private let lines: [Substring]

    init(_ lines: [Substring]) {
        self.lines = lines
    }

    /// A failed sync is never repeated on the same file: its pages are clean by then, and it would lie.
    func expectNoSecondTry() throws {
        var failed: Set<Substring> = []
        for line in lines {
            // One without a name is known by its inode, which another has after it.
            guard let name = line.firstMatch(of: /[0-9a-f-]{36}\.part|\/#\d+/)?.output else {
                continue
            }
            if line.hasPrefix("unlinkat") || line.hasPrefix("openat") { failed.remove(name) }
            guard line.hasPrefix("fsync") else { continue }
            guard !failed.contains(name) else { throw TestFailure("synced again: \(line)") }
            if line.hasSuffix("(INJECTED)") { failed.insert(name) }
        }
    }
}
