import CacheWire
import Glibc
import TestSupport
import Testing

/// The least recently used images are evicted first. A use is a fetch that hits the cache, or a read by any
/// program.
@Suite("Recency", .serialized, .timeLimit(.minutes(5)))
struct RecencyTests {
    @Test func cacheHitsAndDirectReadsCountAsUse() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(10, in: scope)
            try await cache.read(2)
            #expect(try await cache.daemon.fetch(cache.urls[1]).state == .cached)
            try await cache.evict(to: 3)
            #expect(try cache.held() == [1, 2, 9])
            // They are ordered by their use.
            try await cache.evict(to: 2)
            #expect(try cache.held() == [1, 2])
            try await cache.evict(to: 1)
            #expect(try cache.held() == [1])
            #expect(cache.origin.requests().count == 10)
        }
    }

    @Test func queriesDoNotCountAsUse() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(8, in: scope)
            let questions = [
                ["status"], ["status", "--json"], ["info"], ["info", "--json"], ["list"],
                ["stats"],
            ]
            for (number, question) in questions.enumerated() {
                let needsURL = ["status", "info"].contains(question[0])
                let output = try await run(
                    BuiltProducts.program("cachectl"),
                    question + (needsURL ? [cache.urls[number]] : []),
                    environment: minimalEnvironment(["CACHED_SOCKET": cache.daemon.socket]))
                #expect(output.status == .success, "\(question)")
                // stat(2) and reading attributes do not open the file.
                _ = try ExtendedAttributes(of: try cache.path(number)).names()
                try await cache.evict(to: 7 - number)
                #expect(try cache.held() == Array((number + 1)..<8), "\(question)")
            }
        }
    }

    @Test func theDaemonsOwnReadsDoNotCountAsUse() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(6, in: scope)
            for verb in ["pin", "unpin"] {
                let output = try await cache.daemon.cachectl(verb, cache.urls[0], cache.urls[1])
                #expect(output.status == .success)
            }
            // A program that opens the file after the daemon counts as a user.
            try await cache.read(1)
            try await cache.evict(to: 5)
            #expect(try cache.held() == [1, 2, 3, 4, 5])
            try await cache.evict(to: 1)
            #expect(try cache.held() == [1])
        }
    }

    @Test(arguments: [false, true])
    func theOrderOfUseSurvivesARestart(crash: Bool) async throws {
        try await withTestScope { scope in
            var cache = try await FilledCache(10, in: scope)
            let events = try FileEvents(.uses, in: cache.daemon.directory, scope)
            try await cache.read(3)
            #expect(try await cache.daemon.fetch(cache.urls[0]).state == .cached)
            for verb in ["pin", "unpin"] { try await cache.daemon.cachectl(verb, cache.urls[1]) }
            if crash {
                let watch = Stopwatch()
                try await events.wait(for: "the files to record their use") {
                    try cache.lastUse(0) > cache.lastUse(3)
                        && cache.lastUse(3) > cache.lastUse(9)
                }
                #expect(watch.time < .seconds(8))
            }
            try await cache.restart(afterCrash: crash)
            try await cache.evict(to: 4)
            #expect(try cache.held() == [0, 3, 8, 9])
            try await cache.evict(to: 2)
            #expect(try cache.held() == [0, 3])
            try await cache.evict(to: 1)
            #expect(try cache.held() == [0])
        }
    }

    /// Under `relatime` a read is recorded only if the access time is not after the change time. mount(8)
    @Test func theKernelKeepsUpdatingAccessTimes() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(20, of: 900, in: scope)
            for url in cache.urls {
                var status = stat()
                try #require(lstat(try cache.daemon.path(url), &status) == 0)
                let (use, change) = (status.st_atim, status.st_ctim)
                #expect((use.tv_sec, use.tv_nsec) < (change.tv_sec, change.tv_nsec))
            }
        }
    }

    @Test func usesWhileTheDaemonIsStoppedCount() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(10, in: scope)
            try await cache.daemon.stop()
            // No daemon watches, but the file system records the access.
            let before = try cache.lastUse(4)
            try await cache.read(4)
            try #require(
                try cache.lastUse(4) > before, "the file system does not keep access times")
            let again = try await cache.daemon.restart()
            let bytes = try cache.allocation() * 2
            let answer = try await again.ask(call("Evict", parameters: #""toBytes":\#(bytes)"#))
            #expect(answer.parameters?.entries == 8)
            #expect(try cache.held() == [4, 9])
        }
    }

    @Test func afterAQueueOverflowUsesAreReadFromTheFiles() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(10, in: scope)
            #expect(try await cache.daemon.fetch(cache.urls[5]).state == .cached)
            cache.daemon.process.signal(SIGSTOP)
            scope.atEnd { cache.daemon.process.signal(SIGCONT) }
            try overflowQueue(of: cache.daemon.directory)
            // The kernel drops the event of this read.
            let before = try cache.lastUse(2)
            try await cache.read(2)
            try #require(
                try cache.lastUse(2) > before, "the file system does not keep access times")
            cache.daemon.process.signal(SIGCONT)
            try await cache.daemon.waitForScan()
            try await cache.evict(to: 3)
            #expect(try cache.held() == [2, 5, 9])
            try await cache.daemon.expectLedgerMatchesDisk()
        }
    }

    /// Makes more changes than the inotify queue holds, all to one entry's name. inotify(7),
    /// `max_queued_events`.
    private func overflowQueue(of directory: String) throws {
        let text = try contents(of: "/proc/sys/fs/inotify/max_queued_events")
        let limit = try #require(Int(String(decoding: text, as: UTF8.self).prefix { $0.isNumber }))
        let name = "\(directory)/fcde3c85-2270-590f-9e7c-ee003d65e0e2"
        for _ in 0..<limit / 2 + 10 {
            try #require(symlink("x", name) == 0 && unlink(name) == 0)
        }
    }
}
