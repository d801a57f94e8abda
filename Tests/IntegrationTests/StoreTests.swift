import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// Daemons that share a real object store.
@Suite(
    "Shared store", .serialized, .timeLimit(.minutes(5)),
    .enabled(
        if: ObjectStore.isInstalled,
        "no object store is installed; .ci/python-clients installs SeaweedFS"))
struct StoreTests {
    private let lasting: HeaderFields = ["Cache-Control": "max-age=5000", "ETag": "\"x1\""]

    /// Images of several sizes, on an origin that can be stopped.
    private func images(_ count: Int, on origin: ScriptedOrigin) -> [(url: String, bytes: [UInt8])]
    {
        (0..<count).map { number in
            let size = number % 40 == 39 ? 3_000_000 : 300 + number * 217
            let bytes = SampleImage.png(byteCount: size, seed: number % 250)
            origin.route("/\(number).png", .answer(headers: lasting, body: bytes))
            return (origin.url("/\(number).png"), bytes)
        }
    }

    private func fetch(_ urls: [String], by daemon: DaemonFixture) async throws -> [Item] {
        try await daemon.ask(call("Fetch", urls)).items
    }

    private func areFetched(_ urls: [String], by daemon: DaemonFixture) async throws -> Bool {
        try await fetch(urls, by: daemon).allSatisfy { $0.state == .cached }
    }

    private func waitUntilWritten(_ daemon: DaemonFixture) async throws {
        let connection = try daemon.connect()
        try await waitUntil("all images to be in the store") {
            try await connection.ask(call("Stats")).parameters?.stats?["storeQueued"] == 0
        }
    }

    @Test func whatOneMachineFetchedTheOthersHaveWithoutTheirOrigin() async throws {
        try await withTestScope { scope in
            let store = try await ObjectStore(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let images = images(200, on: origin)
            let urls = images.map(\.url)
            let first = try await DaemonFixture.start(environment: store.environment(), in: scope)
            #expect(try await areFetched(urls, by: first))
            try await waitUntilWritten(first)
            #expect(try await first.metric("storeUploads") == 200)
            #expect(try await first.metric("storeMisses") == 200)
            for _ in 0..<6 {
                let next = try await DaemonFixture.start(
                    environment: store.environment(), in: scope)
                #expect(try await areFetched(urls, by: next))
                try await next.stop()
            }
            #expect(origin.requests().count == 200)
            try await origin.stop()
            let last = try await DaemonFixture.start(environment: store.environment(), in: scope)
            #expect(try await areFetched(urls, by: last))
            for image in images {
                #expect(try contents(of: last.path(image.url)) == image.bytes)
            }
            for url in urls.prefix(5) {
                let known = try await first.status(url, details: true)
                let found = try await last.status(url, details: true)
                #expect(found.mediaType == known.mediaType && found.etag == known.etag)
                #expect(found.sha256 == known.sha256 && found.source == .store)
                #expect(known.source == nil)
                #expect(abs((found.freshUntil ?? 0) - (known.freshUntil ?? 0)) <= 1)
                #expect(abs((found.fetchedAt ?? 0) - (known.fetchedAt ?? 0)) <= 1)
            }
            let info = try await last.cachectl("info", urls[0])
            #expect(info.text.contains("from the store, fetched from its origin"))
            let bytes = images.reduce(0) { $0 + $1.bytes.count }
            #expect(try await last.metric("bytesFromStore") == bytes)
        }
    }

    @Test func theAdministratorSeesWhetherTheStoreCanBeUsed() async throws {
        try await withTestScope { scope in
            let store = try await ObjectStore(in: scope)
            let good = try await DaemonFixture.start(environment: store.environment(), in: scope)
            let answer = try await good.cachectl("store")
            #expect(answer.status == .success)
            for word in ["GET", "PUT", "DELETE", "exclusive", "the same as the store's"] {
                #expect(answer.text.contains(word))
            }
            let cases = [
                (store.environment(secret: "wrong"), "SignatureDoesNotMatch"),
                (store.environment(keyID: "nobody"), "InvalidAccessKeyId"),
                (
                    store.environment().merging(["CACHED_STORE": "s3://elsewhere"]) { $1 },
                    "NoSuchBucket"
                ),
                (
                    store.environment(keyID: "readonly", secret: "readonlysecret"),
                    "PUT: AccessDenied"
                ),
            ]
            let origin = try ScriptedOrigin(in: scope)
            for (environment, code) in cases {
                let daemon = try await DaemonFixture.start(environment: environment, in: scope)
                let answer = try await daemon.cachectl("store")
                #expect(answer.status == .exited(1))
                #expect(answer.errorText.contains(code))
                // Images come all the same.
                let urls = images(20, on: origin).map(\.url)
                #expect(try await areFetched(urls, by: daemon))
                #expect(!daemon.log.contains("wrong"))
            }
            let without = try await DaemonFixture.start(in: scope)
            #expect(try await without.cachectl("store").status == .exited(1))
        }
    }

    @Test func aKeyThatMayOnlyReadReadsAndIsToldOnce() async throws {
        try await withTestScope { scope in
            let store = try await ObjectStore(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let shared = images(10, on: origin).map(\.url)
            let writer = try await DaemonFixture.start(environment: store.environment(), in: scope)
            _ = try await fetch(shared, by: writer)
            try await waitUntilWritten(writer)
            let reader = try await DaemonFixture.start(
                environment: store.environment(keyID: "readonly", secret: "readonlysecret"),
                in: scope)
            _ = try await fetch(images(60, on: origin).map(\.url), by: reader)
            #expect(try await reader.metric("storeHits") == 10)
            try await reader.process.waitForLine(containing: "the store refuses images")
            #expect(origin.requests().count == 60)
            try await reader.stop()
            let lines = reader.log.split(separator: "\n").filter { $0.contains("refuses images") }
            #expect(lines.count == 1)
            #expect(lines.first?.contains("AccessDenied") == true)
        }
    }

    /// The daemon has restricted itself, and still reads a file that another program puts in the place of the first one.
    @Test func credentialsAreReadAgainWhenTheirFileIsReplaced() async throws {
        try await withTestScope { scope in
            let store = try await ObjectStore(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let urls = images(40, on: origin).map(\.url)
            let home = try TemporaryDirectory(in: scope)
            var environment = store.environment()
            let (keyID, secret) = (
                environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"]
            )
            environment["AWS_ACCESS_KEY_ID"] = nil
            environment["AWS_SECRET_ACCESS_KEY"] = nil
            environment["AWS_SHARED_CREDENTIALS_FILE"] = home.file("credentials")
            func write(_ secret: String, to name: String) throws {
                try home.write(
                    "[default]\naws_access_key_id = \(keyID ?? "")\naws_secret_access_key = \(secret)\n",
                    to: name)
            }
            try write("wrong", to: "credentials")
            let daemon = try await DaemonFixture.start(environment: environment, in: scope)
            #expect(daemon.log.contains("others may read the credentials of the store"))
            #expect(try await areFetched(Array(urls[..<20]), by: daemon))
            #expect(try await daemon.cachectl("store").errorText.contains("SignatureDoesNotMatch"))
            try write(secret ?? "", to: "new")
            #expect(rename(home.file("new"), home.file("credentials")) == 0)
            // A person who asks has the store tried at once.
            try await waitUntil("the new credentials to be read") {
                try await daemon.cachectl("store").status == .success
            }
            #expect(try await areFetched(Array(urls[20...]), by: daemon))
            try await waitUntilWritten(daemon)
            #expect(try await daemon.metric("storeUploads") >= 20)
        }
    }

    @Test func anImageCanBeRemovedFromTheStoreToo() async throws {
        try await withTestScope { scope in
            let store = try await ObjectStore(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let url = images(1, on: origin)[0].url
            let first = try await DaemonFixture.start(environment: store.environment(), in: scope)
            _ = try await fetch([url], by: first)
            try await waitUntilWritten(first)
            #expect(try await first.cachectl("remove", "--store", url).status == .success)
            try await waitUntilWritten(first)
            #expect(try await first.metric("storeDeleted") == 1)
            let second = try await DaemonFixture.start(environment: store.environment(), in: scope)
            _ = try await fetch([url], by: second)
            #expect(try await second.metric("storeMisses") == 1)
            let without = try await DaemonFixture.start(in: scope)
            #expect(try await without.cachectl("remove", "--store", url).status == .exited(1))
        }
    }

    /// Every download that would succeed without a store succeeds, and none waits for long.
    @Test(arguments: [SIGKILL, SIGSTOP])
    func noDownloadFailsWithTheStore(signal: Int32) async throws {
        try await withTestScope { scope in
            let store = try await ObjectStore(nodes: 3, in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let urls = images(300, on: origin).map(\.url)
            let daemon = try await DaemonFixture.start(environment: store.environment(), in: scope)
            #expect(try await areFetched(Array(urls[..<100]), by: daemon))
            try await waitUntilWritten(daemon)
            let second = try await DaemonFixture.start(environment: store.environment(), in: scope)
            // One of three nodes: half of what it holds is on another.
            try store.signal(signal, to: "volume1")
            #expect(try await areFetched(Array(urls[..<100]), by: second))
            try store.signal(signal, to: "volume")
            #expect(try await areFetched(Array(urls[100..<200]), by: second))
            try store.signal(signal, to: "gateway")
            let began = ContinuousClock.now
            #expect(try await areFetched(Array(urls[200...]), by: second))
            #expect(began.duration(to: .now) < .seconds(20))
            if signal == SIGSTOP { try store.signal(SIGCONT, to: "") }
        }
    }
}
