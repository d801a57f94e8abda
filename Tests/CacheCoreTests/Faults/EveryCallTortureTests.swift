import CacheKey
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Every system call on the directory fails with every error that its manual page lists: in one run the first call
/// of its kind, in the next run the second, until a run makes no more calls of that kind.
///
/// The short form takes one call of each kind and one of its errors. `FaultTests` covers failures outside the
/// directory.
@Suite("Every call can fail", .serialized, .timeLimit(.minutes(60)))
struct EveryCallTortureTests {
    @Test func costsAtMostOneDownload() async throws {
        try await withTestScope { scope in
            // In memory, small images get the name of their entry at once. Large ones have a partial.
            let home = try TemporaryDirectory(inMemory: scope)
            let place = try await FaultPlace(in: scope)
            let faults = SyscallName.allCases.flatMap { call in
                chosen(call.errnos).map { (call, $0) }
            }
            var tally = Tally()
            try await withThrowingTaskGroup(of: [Struck].self) { group in
                for (number, (call, errno)) in faults.enumerated() {
                    // A run mostly waits, so several run at a time.
                    if number >= 8, let struck = try await group.next() { tally.count(struck) }
                    let round = Round(place, home.file("\(number)"), call, errno)
                    group.addTask { try await isLongForm ? round.failEach() : round.failOne() }
                }
                for try await struck in group { tally.count(struck) }
            }
            guard isLongForm else { return }
            tally.print()
            #expect(tally.all >= 2000)
        }
    }

    /// In the short form, the seed chooses one of them.
    private func chosen(_ errnos: [Errno]) -> [Errno] {
        guard !isLongForm else { return errnos }
        var random = SeededGenerator(seed: testSeed)
        return errnos.randomElement(using: &random).map { [$0] } ?? []
    }
}

/// A call that failed as planned, and its consequences.
private struct Struck: Sendable {
    let call: SyscallName
    let errno: Errno
    let didRefuseToStart: Bool
    let lost: Int
}

/// One error of one kind of call.
private struct Round: Sendable {
    private let place: FaultPlace
    private let directory: String
    private let call: SyscallName
    private let errno: Errno

    init(_ place: FaultPlace, _ directory: String, _ call: SyscallName, _ errno: Errno) {
        self.place = place
        self.directory = directory
        self.call = call
        self.errno = errno
    }

    /// Lets the first call fail, in another run the second, until there are no more.
    func failEach() async throws -> [Struck] {
        var struck: [Struck] = []
        while let next = try await fail(struck.count + 1) { struck.append(next) }
        return struck
    }

    /// Lets the call fail that the seed chooses. If a run makes fewer calls, the number is halved.
    func failOne() async throws -> [Struck] {
        var random = SeededGenerator(seed: testSeed)
        var nth = Int.random(in: 1..<16, using: &random)
        while nth > 0 {
            if let struck = try await fail(nth) { return [struck] }
            nth /= 2
        }
        return []
    }

    /// `nil` if the run makes fewer calls.
    private func fail(_ nth: Int) async throws -> Struck? {
        let plan = FaultPlan(call, nth: nth, errno)
        var run = FaultedRun(place, in: directory, plan)
        do {
            try await run.run()
        } catch {
            Issue.record("\(call) \(nth), \(errno): \(error) (CACHED_TEST_SEED=\(testSeed))")
        }
        try await runSuccessfully("rm", ["-r", directory])
        guard plan.hasStruck else { return nil }
        return Struck(
            call: call, errno: errno, didRefuseToStart: run.didRefuseToStart,
            lost: run.failures.count)
    }
}

/// The calls that failed, and their consequences.
private struct Tally {
    private var faults: [SyscallName: [Int32: Int]] = [:]
    private var refusals = 0
    private var lost = 0

    var all: Int { faults.values.flatMap(\.values).reduce(0, +) }

    mutating func count(_ struck: [Struck]) {
        for fault in struck {
            faults[fault.call, default: [:]][fault.errno.rawValue, default: 0] += 1
            if fault.didRefuseToStart { refusals += 1 }
            lost += fault.lost
        }
    }

    func print() {
        for call in SyscallName.allCases {
            guard let counts = faults[call] else { continue }
            let total = counts.values.reduce(0, +)
            let each = counts.sorted { $0.key < $1.key }.map { "\(Errno(rawValue: $0)): \($1)" }
            Swift.print("torture: \(call): \(total) faults (\(each.joined(separator: ", ")))")
        }
        Swift.print(
            "torture: every call may fail, from inside: \(all) faults, \(refusals) refused starts, "
                + "\(lost) downloads lost, seed \(testSeed)")
    }
}
