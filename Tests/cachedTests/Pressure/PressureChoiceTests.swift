import Testing

@testable import cached

/// The sources that are tried, for several environments and texts of proc(5).
@Suite struct PressureChoiceTests {
    private let groups = "1:cpu:/\n0::/system.slice/cached.service\n"
    private let mounts = """
        22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
        31 22 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate
        32 22 0:29 / /proc rw - proc proc rw

        """
    private let own = "/sys/fs/cgroup/system.slice/cached.service/memory.pressure"

    private func choice(_ environment: [String: String] = [:]) -> PressureChoice {
        PressureChoice(environment: environment, groups: groups, mounts: mounts)
    }

    /// The sources if the environment sets none.
    private var usual: [PressureSource] {
        [
            .file(path: own), .file(path: "/proc/pressure/memory"),
            .sampled(path: own), .sampled(path: "/proc/pressure/memory"),
        ]
    }

    @Test func theOwnGroupComesBeforeTheMachineAndTriggersComeBeforeReading() {
        #expect(choice().sources == usual)
        #expect(choice().objections.isEmpty)
        #expect(choice(["MEMORY_PRESSURE_WATCH": ""]).sources == usual)
    }

    /// Texts of `/proc/self/cgroup` without a usable version 2 group.
    private static let groupless: [String?] = [nil, "", "1:memory:/a\n", "0::/../a\n"]

    @Test(arguments: groupless)
    func withoutAGroupTheMachineIsWatched(groups: String?) {
        let choice = PressureChoice(environment: [:], groups: groups, mounts: mounts)
        #expect(choice == PressureChoice(environment: [:], groups: "0::/a", mounts: nil))
        #expect(
            choice.sources == [
                .file(path: PressureSource.machine), .sampled(path: PressureSource.machine),
            ])
        #expect(choice.objections == ["the process is in no control group of version 2"])
    }

    @Test func theSourceInTheEnvironmentComesFirst() {
        let bytes = choice([
            "MEMORY_PRESSURE_WATCH": "/run/pressure",
            "MEMORY_PRESSURE_WRITE": "c29tZSAyMDAwMDAgMjAwMDAwMAA=",
        ])
        let greeting = Array("some 200000 2000000\0".utf8)
        #expect(
            bytes.sources == [.assigned(path: "/run/pressure", greeting: greeting)] + usual)
        let silent = choice(["MEMORY_PRESSURE_WATCH": "/run/pressure"])
        #expect(silent.sources.first == .assigned(path: "/run/pressure", greeting: []))
        #expect(silent.sources.first?.description == "MEMORY_PRESSURE_WATCH /run/pressure")
    }

    @Test func devNullTurnsTheWatchOff() {
        let off = choice(["MEMORY_PRESSURE_WATCH": "/dev/null"])
        #expect(off.sources == [.off])
        #expect(off.objections.isEmpty)
    }

    @Test(arguments: [
        ["MEMORY_PRESSURE_WATCH": "run/pressure"],
        ["MEMORY_PRESSURE_WATCH": "/run/pressure", "MEMORY_PRESSURE_WRITE": "no base64"],
        [
            "MEMORY_PRESSURE_WATCH": "/run/pressure",
            "MEMORY_PRESSURE_WRITE": String(repeating: "AAAA", count: 1366),
        ],
    ])
    func aWrongSourceInTheEnvironmentIsSkipped(environment: [String: String]) {
        let choice = choice(environment)
        #expect(choice.sources == usual)
        #expect(choice.objections.count == 1)
        #expect(choice.objections.first?.hasPrefix("MEMORY_PRESSURE_W") == true)
    }

    // MARK: Control groups

    /// Lines of mountinfo about the version 2 tree.
    private static let hybrid = "9 1 0:3 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw"
    private static let service = "9 1 0:3 /a/b /mnt/service rw shared:2 - cgroup2 none rw"
    private static let spaced = #"9 1 0:3 / /mnt/a\040b\134c rw - cgroup2 none rw"#
    private static let outside = "9 1 0:3 /.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw"
    private static let version1 = "9 1 0:3 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory"

    @Test(arguments: [
        ("0::/", [hybrid], "/sys/fs/cgroup/unified"),
        ("0::/a/b/c", [hybrid], "/sys/fs/cgroup/unified/a/b/c"),
        ("0::/a/b", [service], "/mnt/service"),
        ("0::/a/b/c", [hybrid, service], "/mnt/service/c"),
        ("0::/a/b/c", [service, hybrid], "/mnt/service/c"),
        ("0::/a/bc", [service], nil),
        ("0::/a/bc", [service, hybrid], "/sys/fs/cgroup/unified/a/bc"),
        ("0::/x", [spaced], #"/mnt/a b\c/x"#),
        ("0::/", [outside], nil),
        ("0::/", [version1], nil),
        ("0::/a:b", [version1, hybrid], "/sys/fs/cgroup/unified/a:b"),
        ("0::/", ["", "9 1 0:3 / /x rw -", "nonsense - cgroup2"], nil),
    ])
    func theGroupsDirectoryIsFoundBelowItsMount(group: String, mounts: [String], directory: String?)
    {
        let found = ControlGroup.directory(
            groups: "4:memory:/process\n\(group)\n",
            mounts: mounts.joined(separator: "\n"))
        #expect(found == directory)
    }

    @Test(arguments: [
        ("plain", "plain"), (#"a\011b\012c"#, "a\tb\nc"), (#"\04"#, #"\04"#), (#"\999"#, #"\999"#),
        (#"\303\244"#, "ä"),
    ])
    func escapesOfMountinfoAreDecoded(field: String, path: String) {
        #expect(ControlGroup.unescaped(Substring(field)) == path)
    }
}
