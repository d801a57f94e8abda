import CacheKey
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheModel

/// Every system call on the directory may fail, with every error its manual page lists, at the first
/// call of its kind, the second, the third, until a run passes untouched.
///
/// The short form takes one call of each kind and one of its errors; what fails outside the directory is
/// in `FaultTests`.
@Suite("Every call may fail", .serialized, .timeLimit(.minutes(60)))
struct EveryCallTortureTests {
    @Test func costsAtMostOneDownload() async throws {
        try await withTestScope { scope in
            // There small images never have a name before that of their entry, large ones do.
            let home = try TemporaryDirectory(inMemory: scope)
            let place = try await FaultPlace(in: scope)
            let faults = SyscallName.allCases.flatMap { call in
                chosen(call.errnos).map { (call, $0) }
            }
            var tally = Tally()
            try await withThrowingTaskGroup(of: [Struck].self) { group in
                for (number, (call, errno)) in faults.enumerated() {
                    // Most of a run is waiting.
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

    /// In the short form the one that the seed says.
    private func chosen(_ errnos: [Errno]) -> [Errno] {
        guard !isLongForm else { return errnos }
        var random = SeededGenerator(seed: testSeed)
        return errnos.randomElement(using: &random).map { [$0] } ?? []
    }
}

/// A call failed as planned; what that cost.
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

    /// The first call fails, then, in another life, the second, until there are no more.
    func failEach() async throws -> [Struck] {
        var struck: [Struck] = []
        while let next = try await fail(struck.count + 1) { struck.append(next) }
        return struck
    }

    /// The call that the seed says fails; where it does not come so often, one half as late.
    func failOne() async throws -> [Struck] {
        var random = SeededGenerator(seed: testSeed)
        var nth = Int.random(in: 1..<16, using: &random)
        while nth > 0 {
            if let struck = try await fail(nth) { return [struck] }
            nth /= 2
        }
        return []
    }

    /// `nil` if the call does not come so often.
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

/// What was made to fail, and what that cost.
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
