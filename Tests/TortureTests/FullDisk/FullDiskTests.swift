import CLinux
import CacheKey
import CacheWire
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// A full disk is an ordinary state, whether bytes or inodes run out, on tmpfs and on ext4.
@Suite(
    "Full disk", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: SmallFileSystem.obstacle == nil, "\(SmallFileSystem.obstacle ?? "")"))
struct FullDiskTests {
    @Test(arguments: SmallDisk.Kind.allCases)
    func aFullDiskEvictsOldImagesAndFailsNoRequest(kind: SmallDisk.Kind) async throws {
        try await Promise("a full disk (\(kind)) evicts the oldest images").test { figures in
            try await withTestScope { scope in
                guard let full = try await FullCache(kind, in: scope) else { return }
                let failed = try await full.oversubscribe(by: isLongForm ? 100 : 10)
                figures += ["\(full.fetched) images fetched", "\(failed.count) failed"]
                for item in failed {
                    throw TestFailure("\(item.url): \(String(describing: item.failure))")
                }
                try await full.expectNothingBroken()
            }
        }
    }

    /// More downloads than one batch. Downloads in progress can use all the space and leave nothing to
    /// evict; then one of them fails and says so.
    @Test(arguments: SmallDisk.Kind.allCases)
    func concurrentDownloadsOnAFullDiskEvictOldImagesOrFailClearly(kind: SmallDisk.Kind)
        async throws
    {
        try await Promise("many downloads at once on a full disk (\(kind))").test { figures in
            try await withTestScope { scope in
                guard let full = try await FullCache(kind, in: scope) else { return }
                let failed = try await full.oversubscribe(by: isLongForm ? 10 : 1, copies: 32)
                figures += ["\(full.fetched) images fetched", "\(failed.count) failed clearly"]
                for item in failed { try full.expectHelp(item) }
                try await full.expectNothingBroken()
                try await full.expectRoom()
            }
        }
    }

    @Test(arguments: SmallDisk.Kind.allCases)
    func failuresOnADiskOthersFillAreClearAndEndWithTheShortage(
        kind: SmallDisk.Kind
    ) async throws {
        try await Promise("failures on a disk (\(kind)) that others fill are clear, and end").test {
            figures in
            try await withTestScope { scope in
                guard let full = try await FullCache(kind, in: scope) else { return }
                var failed = 0
                for _ in 0..<(isLongForm ? 30 : 3) {
                    try full.disk.fill()
                    let items = try await full.oversubscribe(by: 1)
                    failed += items.count
                    for item in items { try full.expectHelp(item) }
                    try await full.expectNothingBroken()
                    try full.disk.giveBack()
                    // The daemon recovers by itself.
                    try await full.expectRoom()
                }
                figures += ["\(full.fetched) images fetched", "\(failed) failed clearly"]
            }
        }
    }

    @Test(arguments: SmallDisk.Kind.allCases)
    func aDiskFullOfPinsFailsClearlyUntilTheyAreRemoved(kind: SmallDisk.Kind) async throws {
        try await Promise("a disk (\(kind)) full of pins fails clearly, and recovers").test {
            figures in
            try await withTestScope { scope in
                guard let full = try await FullCache(kind, in: scope) else { return }
                _ = try await full.oversubscribe(by: 1)
                let pinned = try await full.pinAll()
                try #require(!pinned.isEmpty)
                try full.disk.fill()
                let items = try await full.fetchSome()
                try #require(items.contains { $0.hasFailed })
                for item in items where item.hasFailed { try full.expectHelp(item) }
                // All pinned images still exist.
                for item in try await full.cache.status(pinned) { #expect(item.state == .cached) }
                let failed = try await full.unpin(pinned)
                if !failed.isEmpty {
                    // A new record is written before the old one is removed, and tmpfs can lack the space.
                    for item in failed { try full.expectHelp(item) }
                    try full.disk.giveBack()
                    #expect(try await full.unpin(pinned).isEmpty)
                }
                try await full.expectRoom()
                try await full.expectNothingBroken()
                figures.append("\(pinned.count) pins")
            }
        }
    }

    @Test(arguments: SmallDisk.Kind.allCases)
    func aStartOnAFullDiskServesCachedImages(kind: SmallDisk.Kind) async throws {
        try await Promise("a start on a full disk (\(kind)) serves cached images").test { figures in
            try await withTestScope { scope in
                guard var full = try await FullCache(kind, in: scope) else { return }
                _ = try await full.oversubscribe(by: 1)
                let held = try await full.held()
                try #require(!held.isEmpty)
                try await full.cache.daemon.stop()
                let tag = "\(full.cache.daemon.directory)/CACHEDIR.TAG"
                try #require(unlink(tag) == 0)
                try full.disk.fill()
                full.cache = FaultyDaemon(try await full.cache.daemon.restart(), full.cache.origin)
                for item in try await full.cache.status(held) { #expect(item.state == .cached) }
                try await expectLocked(full.cache.daemon)
                #expect(full.cache.daemon.log.contains("CACHEDIR.TAG could not be written"))
                #expect(access(tag, F_OK) != 0)
                try await full.expectNothingBroken()
                // Once there is space again, the next start writes the tag.
                try await full.cache.daemon.stop()
                try full.disk.giveBack()
                full.cache = FaultyDaemon(try await full.cache.daemon.restart(), full.cache.origin)
                #expect(try contents(of: tag).count > 43)
                try await full.expectRoom()
                figures.append("\(held.count) images served")
            }
        }
    }

    /// A lock file without content still keeps a second daemon out.
    private func expectLocked(_ daemon: DaemonFixture) async throws {
        try await withTestScope { scope in
            let socket = try TemporaryDirectory(in: scope).file("s")
            let output = try await run(
                BuiltProducts.program("cached"),
                ["--directory", daemon.directory, "--socket", socket])
            #expect(output.status == .exited(75), "\(output.errorText)")
        }
    }
}

/// A daemon on a small disk that it is allowed to fill completely.
private struct FullCache: Sendable {
    let disk: SmallDisk
    var cache: FaultyDaemon
    private let requested = RequestedURLs()

    /// `nil`, with a line printed, if this machine can't provide such a disk.
    init?(_ kind: SmallDisk.Kind, in scope: TestScope) async throws {
        do {
            disk = try await SmallDisk(kind, in: scope)
        } catch let obstacle as TestFailure {
            print("this machine can't provide a small disk (\(kind)): \(obstacle)")
            return nil
        }
        var options = DaemonFixture.Options()
        options.directory = "\(disk.path)/cache"
        options.arguments = ["--max-bytes", "1GiB", "--min-free", "0"]
        cache = FaultyDaemon(
            try await DaemonFixture.start(options, in: scope), try FaultyDaemon.origin(in: scope))
    }

    /// The number of images fetched so far.
    var fetched: Int { requested.urls.count }

    /// Fetches `factor` times as much as fits on the disk, under `copies` names. Returns the failures; an
    /// image that was evicted later is not a failure.
    func oversubscribe(by factor: Int, copies: Int = 1) async throws -> [Item] {
        var failed: [Item] = []
        for _ in 0..<(7 * factor) {
            failed += try await fetchSome(copies: copies).filter(\.hasFailed)
        }
        return failed
    }

    /// Fetches images that were never requested before, `copies` of each size.
    func fetchSome(copies: Int = 1) async throws -> [Item] {
        let urls = cache.urls("\(fetched)", copies: copies)
        requested.append(urls)
        return try await cache.fetch(urls)
    }

    /// The URLs that are cached now.
    func held() async throws -> [String] {
        try await cache.status(requested.urls).filter { $0.state == .cached }.map(\.url)
    }

    /// Pins all cached images except one, which it removes: a new record is written before the old one is
    /// removed, and tmpfs can lack the space. Returns the pinned URLs.
    func pinAll() async throws -> [String] {
        let urls = try await held()
        _ = try await cache.call(Methods.Remove.self, .init(urls: [urls[0]]))
        let pinned = Array(urls.dropFirst())
        let reply = try await cache.call(Methods.Pin.self, .init(urls: pinned, pinned: true))
        #expect(reply.items.allSatisfy { $0.failure == nil })
        return pinned
    }

    /// Unpins these URLs. Returns those whose pin could not be removed.
    func unpin(_ urls: [String]) async throws -> [Item] {
        let reply = try await cache.call(Methods.Pin.self, .init(urls: urls, pinned: false))
        return reply.items.filter { $0.failure != nil }
    }

    // MARK: Conditions that must hold

    /// New requests succeed.
    func expectRoom() async throws {
        for item in try await fetchSome() where item.hasFailed {
            throw TestFailure("there is still no space: \(item)")
        }
    }

    /// No file is empty or incomplete, and the statistics are right.
    func expectNothingBroken() async throws {
        let directory = cache.daemon.directory
        for name in try FileManager.default.contentsOfDirectory(atPath: directory)
        where name.utf8.count == 36 {
            var status = stat()
            guard lstat("\(directory)/\(name)", &status) == 0 else { continue }
            if status.st_size == 0 { throw TestFailure("\(name) is empty") }
        }
        try await cache.expectWhole(requested.urls, butFor: requested.urls.count)
        try await cache.expectLedgerMatchesDisk()
    }

    /// The message names the problem and a remedy.
    func expectHelp(_ item: Item) throws {
        let failure = item.failure
        let says = ["noRoom": "no room for", "storage": "no room to store"][failure?.kind ?? ""]
        guard let says, let message = failure?.message, message.contains(says),
            message.contains("(--") || message.contains("free space or inodes")
        else { throw TestFailure("the message does not help: \(String(describing: failure))") }
    }
}

extension Item {
    /// The fetch failed; an image that was evicted for a later one did not fail.
    fileprivate var hasFailed: Bool { failure.map { $0.kind != "removed" } ?? false }
}

/// The URLs requested so far.
private final class RequestedURLs: Sendable {
    private let list = Mutex<[String]>([])

    var urls: [String] { list.withLock { $0 } }

    func append(_ urls: [String]) { list.withLock { $0 += urls } }
}
