import CLinux
import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// Files that are not the cache's own are neither read, moved nor deleted, and no file can make the cache
/// write to a wrong place.
@Suite("ForeignFiles", .serialized, .timeLimit(.minutes(5)))
struct ForeignFilesTests {
    @Test func foreignFilesAreLeftAlone() async throws {
        try await Promise("foreign files are neither read, moved nor deleted").test { figures in
            try await withTestScope { scope in
                var fixture = try await FilledDirectory([900, 5000, 20_000, 700], in: scope)
                let files = try ForeignFiles(in: fixture)
                let before = try files.snapshot()
                try #require(before.count >= 50)
                for crash in [false, true] {
                    fixture.daemon = try await fixture.daemon.replace(afterCrash: crash)
                    try await fixture.waitForScan()
                    #expect(try files.snapshot() == before)
                    #expect(try await fixture.listed().count == fixture.urls.count)
                    try await Self.doEverything(fixture)
                    #expect(try files.snapshot() == before)
                }
                figures.append("\(before.count) files")
            }
        }
    }

    /// Makes the daemon perform every operation that reads, writes, moves or deletes.
    private static func doEverything(_ fixture: FilledDirectory) async throws {
        func refresh() async throws {
            let parameters = Methods.Fetch.Parameters(urls: fixture.urls, refresh: true)
            let items = try await fixture.ask(Methods.Fetch.self, parameters).items
            #expect(items.allSatisfy { $0.state == .cached })
        }
        try await refresh()
        #expect(try await fixture.verify().total == fixture.urls.count)
        #expect(try await fixture.ask(Methods.Evict.self, .init(toBytes: 0)).entries == 4)
        try await refresh()
        _ = try await fixture.ask(Methods.Pressure.self, .init(level: .critical))
        try truncateOne(fixture)
        #expect(try await fixture.verify(repair: true).leftCount == 0)
        try await refresh()
        let removed = try await fixture.ask(Methods.Remove.self, .init(all: true))
        #expect(removed.entries == fixture.urls.count)
        try await refresh()
    }

    private static func truncateOne(_ fixture: FilledDirectory) throws {
        let path = try fixture.urls.map { try fixture.path($0) }.first { access($0, F_OK) == 0 }
        if let path { try #require(truncate(path, 10) == 0) }
    }

    @Test func obstaclesUnderAPartialNameDoNotRedirectADownload() async throws {
        try await Promise("no file under a partial's name redirects a download").test {
            figures in
            try await withTestScope { scope in
                let fixture = try await FilledDirectory([900], in: scope)
                let precious = try fixture.elsewhere.write("precious", to: "precious")
                let tempting = fixture.elsewhere.file("tempting")
                let obstacles: [(String, (String) -> Int32)] = [
                    ("a link out", { symlink(precious, $0) }),
                    ("a link to nothing", { symlink(tempting, $0) }),
                    ("a link to the entry", { symlink(String($0.dropLast(5)), $0) }),
                    ("a link to a directory", { symlink("/tmp", $0) }),
                    ("a hard link out", { link(precious, $0) }),
                    ("a FIFO", { mkfifo($0, 0o666) }),
                    ("a socket", { mknod($0, S_IFSOCK | 0o666, 0) }),
                ]
                for (name, make) in obstacles {
                    unlink(try fixture.path(0))
                    try #require(make(try fixture.path(0) + ".part") == 0, "\(name)")
                    let item = try await fixture.fetch(0)
                    #expect(item.state == .cached, "\(name): \(String(describing: item.failure))")
                    try fixture.expectWhole(0, "\(name)")
                    #expect(try contents(of: precious) == Array("precious".utf8), "\(name)")
                    #expect(access(tempting, F_OK) != 0, "\(name)")
                }
                figures.append("\(obstacles.count) obstacles")
            }
        }
    }

    @Test func aPartialSwappedDuringADownloadIsNeverPublished() async throws {
        try await Promise("a partial swapped during its download is never published").test {
            figures in
            try await withTestScope { scope in
                let fixture = try await FilledDirectory([900], in: scope)
                let precious = try fixture.elsewhere.write("precious", to: "precious")
                let (path, image) = (try fixture.path(0), fixture.images[0])
                let partial = path + ".part"
                let end = ContinuousClock.now + .seconds(isLongForm ? 60 : 2)
                let swapper = Task {
                    try await offPool {
                        var swaps = 0
                        while ContinuousClock.now < end {
                            unlink(partial)
                            _ =
                                swaps % 2 == 0
                                ? symlink(precious, partial) : link(precious, partial)
                            swaps += 1
                        }
                        return swaps
                    }
                }
                var fetches = 0
                while ContinuousClock.now < end {
                    unlink(path)
                    let item = try await fixture.fetch(0)
                    var status = stat()
                    // A reported image is intact even if its partial was swapped.
                    if item.state == .cached, try await fixture.state(0) == .cached {
                        #expect(lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG)
                        #expect(try contents(of: path) == image)
                    }
                    fetches += 1
                }
                let swaps = try await swapper.value
                #expect(try contents(of: precious) == Array("precious".utf8))
                unlink(partial)
                unlink(path)
                #expect(try await fixture.fetch(0).state == .cached)
                try fixture.expectWhole(0)
                figures += ["\(swaps) swaps", "\(fetches) fetches"]
            }
        }
    }
}
