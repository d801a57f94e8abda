import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// An entry that can't be read does not count as whole.
@Suite("Faults while verifying", .timeLimit(.minutes(5)))
struct VerifyFaultTests {
    @Test(arguments: [SyscallName.openat, .fstatat, .getxattr, .pread])
    func anEntryThatCannotBeReadIsReported(call: SyscallName) async throws {
        var struck = 0
        // The cache also checks its directory by itself, so the number of calls before a verification varies.
        for _ in 1...10 where struck == 0 { struck = try await strikes(call) }
        #expect(struck > 0)
    }

    /// A lack of memory or descriptors says nothing about the entry. A disk that fails twice does.
    @Test(arguments: [Errno.noMemory, .tooManyOpenFilesInSystem, .staleNFSFileHandle, .ioError])
    func onlyAFailingDiskMakesAnEntryDamaged(error: Errno) async throws {
        try await withTestScope { scope in
            let plan = FaultPlan(.pread, nth: 1, error, times: 2)
            let fixture = try CacheFixture(in: scope, faults: plan)
            fixture.origin.route("/a.png", .answer(body: SampleImage.png(byteCount: 5000)))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            let report = await fixture.verify()
            #expect(plan.hasStruck)
            let isDamage = error == .ioError
            #expect(report.damagedCount == (isDamage ? 1 : 0))
            #expect((report.failure == nil) == isDamage)
            #expect(try fixture.lookup("/a.png").isCached == !isDamage)
        }
    }

    @Test func aReadThatFailsOnceIsRepeated() async throws {
        try await withTestScope { scope in
            let plan = FaultPlan(.pread, nth: 1, .ioError)
            let fixture = try CacheFixture(in: scope, faults: plan)
            fixture.origin.route("/a.png", .answer(body: SampleImage.png(byteCount: 5000)))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            let report = await fixture.verify()
            #expect(plan.hasStruck && report.checked == 1 && report.damagedCount == 0)
        }
    }

    /// Lets each call fail in turn, until the verification makes no more. Returns how many of them it made.
    private func strikes(_ call: SyscallName) async throws -> Int {
        var struck = 0
        var isThrough = false
        for nth in 1...100 where !isThrough {
            try await withTestScope { scope in
                let plan = FaultPlan(call, nth: nth, .ioError)
                guard let fixture = try? CacheFixture(in: scope, faults: plan) else { return }
                fixture.origin.route("/a.png", .answer(body: SampleImage.png(byteCount: 5000)))
                _ = try await fixture.fetch("/a.png")
                guard case .cached = try fixture.lookup("/a.png"), !plan.hasStruck else { return }
                let report = await fixture.verify()
                isThrough = !plan.hasStruck
                struck += isThrough ? 0 : 1
                let isWhole = report.checked == report.total && report.total == 1
                #expect(isWhole || report.failure != nil, "\(report)")
            }
        }
        #expect(isThrough)
        return struck
    }
}
