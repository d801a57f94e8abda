import CacheWire
import Glibc
import TestSupport
import Testing

/// Parts of a real store that are killed or hang, and a disk that is full, while images are fetched. Every download that
/// would succeed without a store succeeds, and none waits for long.
@Suite(
    "Shared store that fails", .serialized, .timeLimit(.minutes(10)),
    .enabled(
        if: ObjectStore.isInstalled,
        "no object store is installed; .ci/python-clients installs SeaweedFS"))
struct FailingStoreTests {
    private static let count = isLongForm ? 1000 : 120

    /// First one of three nodes fails, then all of them, then the gateway: each while images come from the store.
    @Test(arguments: isLongForm ? [SIGKILL, SIGSTOP] : [SIGSTOP])
    func noDownloadFailsWithTheStore(signal: Int32) async throws {
        try await withTestScope { scope in
            let store = try await ObjectStore(nodes: 3, in: scope)
            let fixture = try StoreFixture(store, in: scope)
            let images = fixture.images(0..<Self.count)
            let first = try await fixture.daemon()
            #expect(try await first.takes(images))
            try await first.writesToStore()
            for part in [ObjectStore.Part.oneNode, .nodes, .gateway] {
                let daemon = try await fixture.daemon()
                let watch = Stopwatch()
                async let isDone = daemon.takes(images)
                try await waitUntil("images to come from the store") {
                    if part == .gateway { return true }
                    let (hits, entries) = try await (
                        daemon.metric("storeHits"), daemon.metric("entries")
                    )
                    return hits > 10 || entries == Self.count
                }
                try store.signal(signal, to: part)
                #expect(try await isDone)
                #expect(watch.time < .seconds(20))
                try await daemon.stop()
            }
            if signal == SIGSTOP { try store.signal(SIGCONT, to: .everything) }
        }
    }

    /// Images come from the store as before, and a machine that cannot put there says so once.
    @Test(
        .enabled(if: isLongForm, "it takes half a minute; make torture runs it"),
        .enabled(if: SmallFileSystem.obstacle == nil, "this user may not mount file systems"),
        .enabled(if: ObjectStore.isOneProcess, "the engine reserves its disk"))
    func aFullDiskOfTheEngineStopsWritesAndNotQuestions() async throws {
        try await withTestScope { scope in
            let store = try await ObjectStore(disk: 48 << 20, in: scope)
            let fixture = try StoreFixture(store, in: scope)
            let first = try await fixture.daemon()
            let early = fixture.images(0..<20)
            #expect(try await first.takes(early))
            try await first.writesToStore()
            let large = (0..<24).map { number in
                fixture.image(
                    "large\(number).png",
                    SampleImage.png(byteCount: 3_000_000, seed: number))
            }
            #expect(try await first.takes(large))
            try await first.process.waitForLine(containing: "the store", within: .seconds(60))
            #expect(try await first.metric("storeUploads") < 44)
            let second = try await fixture.daemon()
            #expect(try await second.takes(early))
            #expect(try await second.metric("storeHits") == 20)
            #expect(fixture.origin.requests().count == 44)
        }
    }
}
