import CacheWire
import TestSupport
import Testing

private let obstacle = StallGroup.obstacle ?? SmallFileSystem.obstacle

/// Real pressure that the daemon finds by itself, in the pressure file of its own control group.
///
/// The machine has plenty of memory. Only the group is short of it.
@Suite(
    "Found pressure", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: obstacle == nil, "\(obstacle ?? "")"),
    .disabled(if: isSanitized, "a sanitizer needs more memory than the group has"))
struct FoundPressureTests {
    /// Fills a cache of 40 images. Its daemon runs in the group.
    private func cache(
        in group: StallGroup, directory: String? = nil, _ scope: TestScope
    ) async throws -> FilledCache {
        var options = DaemonFixture.Options()
        options.launcher = group.launcher
        options.directory = directory
        options.environment = ["MEMORY_PRESSURE_WATCH": ""]
        options.arguments = ["--max-bytes", "30MiB", "--min-free", "0"]
        let cache = try await FilledCache(40, of: 40_000, options, in: scope)
        try await cache.daemon.waitForPressureSource(group.pressure.path)
        return cache
    }

    @Test func onADiskPagesAreDroppedAndNothingIsUnlinked() async throws {
        try await withTestScope { scope in
            let group = try StallGroup(in: scope)
            let cache = try await cache(in: group, scope)
            try await cache.makeOld()
            try await group.stall()
            let stats = try await cache.daemon.waitForReaction()
            #expect(try cache.held() == Array(0..<40))
            #expect(stats["pressureLastReason"] == "memory is not short")
            #expect(stats["pressureLastEntries"] == 0)
            #expect(try cache.daemon.value("pressureLastDroppedEntries", stats) >= 24)
            #expect(
                try cache.daemon.value("pressureLastAvailable", stats) * 20
                    > cache.daemon.value("pressureLastMachine", stats))
            try await cache.daemon.process.waitForLine(
                containing: #"reason="memory is not short""#, on: .standardError)
        }
    }

    @Test func onTmpfsTheOldestImagesAreUnlinkedWithin3s() async throws {
        try await withTestScope { scope in
            let group = try StallGroup(in: scope)
            let disk = try await SmallFileSystem(bytes: 32 << 20, in: scope)
            let cache = try await cache(in: group, directory: "\(disk.path)/cache", scope)
            try await cache.makeOld()
            let events = try FileEvents(.removals, in: cache.daemon.directory, scope)
            try await group.stall()
            let watch = Stopwatch()
            _ = try await events.next()
            #expect(watch.time < .seconds(3))
            let stats = try await cache.daemon.waitForReaction()
            #expect(stats["pressureLastReason"] == "the files are memory")
            let held = try cache.held()
            #expect(held.count < 40 && held == Array((40 - held.count)..<40))
        }
    }

    @Test func anImageThatWasFetchedInTheLastMinuteStays() async throws {
        try await withTestScope { scope in
            let group = try StallGroup(in: scope)
            let disk = try await SmallFileSystem(bytes: 32 << 20, in: scope)
            let cache = try await cache(in: group, directory: "\(disk.path)/cache", scope)
            try await cache.daemon.makeOld(cache.urls[0])
            try await group.stall()
            _ = try await cache.daemon.waitForReaction()
            #expect(try cache.held() == Array(1..<40))
        }
    }
}

extension DaemonFixture {
    /// Waits for the first reaction to pressure. Returns the statistics.
    fileprivate func waitForReaction() async throws -> [String: JSONValue] {
        try await eventually("a reaction") {
            let stats = try await statistics()
            return try value("pressureReactions", stats) > 0 ? stats : nil
        }
    }

    fileprivate func value(_ name: String, _ stats: [String: JSONValue]) throws -> Int {
        guard case .int(let value)? = stats[name] else { throw TestFailure("\(name) is no number") }
        return value
    }
}
