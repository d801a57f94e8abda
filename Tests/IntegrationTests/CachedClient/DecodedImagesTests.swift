import CachedClient
import TestSupport
import Testing

/// Decoded images in memory.
@Suite(.timeLimit(.minutes(5))) struct DecodedImagesTests {
    /// Files of a daemon's cache, and the cache.
    private func withFiles(
        _ count: Int, environment: [String: String] = [:],
        _ body: (ImageCache, [ImageFile], DaemonFixture) async throws -> Void
    ) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let daemon = try await DaemonFixture.start(environment: environment, in: scope)
            let cache = ImageCache(of: daemon)
            var files: [ImageFile] = []
            for number in 0..<count {
                origin.route("/\(number).png", .answer(body: SampleImage.png(byteCount: 1000)))
                files.append(try await cache.file(for: ImageRequest(origin.url("/\(number).png"))))
            }
            try await body(cache, files, daemon)
        }
    }

    @Test func anImageIsDecodedOnceForAllWhoAsk() async throws {
        try await withFiles(1) { cache, files, _ in
            let images = DecodedImages<Int>(limit: 100, of: cache)
            let decoded = Shared(0)
            let values = try await withThrowingTaskGroup { group in
                for _ in 0..<50 {
                    group.addTask {
                        try await images.value(of: files[0]) { file in
                            decoded.withLock { $0 += 1 }
                            return (try file.withBytes { $0.count }, cost: 10)
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(values == Array(repeating: 1000, count: 50))
            #expect(decoded.withLock { $0 } == 1)
            #expect(images[files[0]] == 1000 && images.cost == 10)
            #expect(images[files[0], PixelSize(width: 1, height: 1)] == nil)
        }
    }

    @Test func theLeastRecentlyUsedGoFirst() async throws {
        try await withFiles(4) { cache, files, _ in
            let images = DecodedImages<String>(limit: 30, of: cache)
            for file in files[..<3] {
                _ = try await images.value(of: file) { ($0.url, cost: 10) }
            }
            #expect(images[files[0]] != nil)
            _ = try await images.value(of: files[3]) { ($0.url, cost: 10) }
            #expect(files.map { images[$0] != nil } == [true, false, true, true])
            _ = try await images.value(of: files[1]) { ($0.url, cost: 31) }
            #expect(images[files[1]] == nil && images.cost == 30)
        }
    }

    @Test func whatCannotBeDecodedIsTriedAgain() async throws {
        try await withFiles(1) { cache, files, _ in
            struct Undecodable: Error {}
            let images = DecodedImages<Int>(limit: 100, of: cache)
            await #expect(throws: Undecodable.self) {
                try await images.value(of: files[0]) { _ in throw Undecodable() }
            }
            let value = try await images.value(of: files[0]) { _ in (5, cost: 1) }
            #expect(value == 5)
        }
    }

    @Test func memoryPressureDropsThem() async throws {
        try await withTestScope { scope in
            let fifo = try FIFO(in: scope)
            let environment = ["MEMORY_PRESSURE_WATCH": fifo.path]
            try await withFiles(4, environment: environment) { cache, files, daemon in
                let images = DecodedImages<Int>(limit: 100, of: cache)
                for file in files { _ = try await images.value(of: file) { _ in (1, cost: 10) } }
                #expect(images.cost == 40)
                try await waitUntil("the watch") { try await daemon.metric("watchers") == 1 }
                let warning = Task {
                    try await cache.pressure.first("a warning") { $0 == .warning }
                }
                try fifo.write("x")
                _ = try await warning.value
                // Both have heard it at the same time. A look takes the time of a call, in which the reaction can run.
                try await waitUntil("some of them to go") {
                    try await daemon.statistics().isEmpty == false && images.cost <= 20
                }
                #expect(images[files[0]] == nil)
            }
        }
    }
}
