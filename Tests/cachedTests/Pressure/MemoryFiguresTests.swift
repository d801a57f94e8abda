import CacheWire
import Testing

@testable import cached

/// The memory of the machine and of the group, read from texts of the kernel.
@Suite("Memory figures", .timeLimit(.minutes(5)))
struct MemoryFiguresTests {
    private let meminfo = """
        MemTotal:       24683520 kB
        MemFree:         1000000 kB
        MemAvailable:   22000000 kB

        """
    private static let unified = [
        "/c/a/memory.current": "1000\n", "/c/a/memory.max": "2000\n", "/c/a/memory.high": "max\n",
        "/c/a/memory.stat": """
        anon 500
        inactive_file 100
        active_file 200
        slab_reclaimable 50
        slab 90

        """,
    ]
    private func group(_ files: [String: String]) -> GroupMemory? {
        GroupMemory(
            groups: "4:memory:/b\n0::/a\n",
            mounts: """
                9 1 0:3 / /m rw - cgroup cgroup rw,memory
                9 1 0:3 / /c rw - cgroup2 cgroup2 rw
                """,
            text: { files[$0] })
    }

    @Test func theMachinesMemoryIsRead() {
        let figures = MemoryFigures(meminfo: meminfo, group: nil)
        #expect(figures.machine == 24_683_520 << 10)
        #expect(figures.available == 22_000_000 << 10)
        #expect(figures.groupLimit == 0)
    }

    @Test(arguments: [nil, "", "MemTotal: 5 kB\n"])
    func withoutFiguresNothingIsShort(meminfo: String?) {
        let figures = MemoryFigures(meminfo: meminfo, group: nil)
        #expect(figures == MemoryFigures())
        #expect(figures.shortage == nil)
    }

    @Test func pagesThatTheKernelCanDropDoNotCountAsUsed() throws {
        #expect(group(Self.unified)?.used == 650)
    }

    @Test func theLowerLimitOfAGroupCounts() {
        #expect(group(Self.unified)?.limit == 2000)
        #expect(group(Self.unified.merging(["/c/a/memory.high": "1500"]) { $1 })?.limit == 1500)
    }

    @Test func aGroupWithoutALimitOrFilesHasNoFigures() {
        #expect(group(Self.unified.merging(["/c/a/memory.max": "max\n"]) { $1 }) == nil)
        #expect(group([:]) == nil)
    }

    @Test func aLimitAboveTheMemoryOfTheMachineIsNone() {
        let group = GroupMemory(used: 5, limit: 24_683_521 << 10)
        #expect(MemoryFigures(meminfo: meminfo, group: group).groupLimit == 0)
    }

    @Test func theGroupCountsEvenIfTheMachineIsUnknown() {
        let group = GroupMemory(used: 95, limit: 100)
        #expect(MemoryFigures(meminfo: nil, group: group).shortage == .critical)
    }

    @Test(
        arguments: [
            (50, nil), (49, .warning), (25, .warning), (24, .critical), (0, .critical),
        ] as [(Int64, PressureLevel?)])
    func shortageBeginsAtOneTwentiethOfTheMachine(available: Int64, level: PressureLevel?) {
        #expect(MemoryFigures(machine: 1000, available: available).shortage == level)
    }

    @Test(arguments: [(900, nil), (901, .critical)] as [(Int64, PressureLevel?)])
    func aGroupIsShortAboveNineTenthsOfItsLimit(used: Int64, level: PressureLevel?) {
        let figures = MemoryFigures(
            machine: 10_000, available: 9000, groupUsed: used, groupLimit: 1000)
        #expect(figures.shortage == level)
    }

    @Test func thisMachineHasFigures() {
        let figures = MemoryFigures.now()
        #expect(figures.machine > 0 && figures.available > 0)
        #expect(figures.available <= figures.machine)
    }
}
