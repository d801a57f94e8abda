import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// Daemons that share a real object store.
@Suite(
    "Shared store", .serialized, .objectStore, .timeLimit(.minutes(5)),
    .enabled(
        if: ObjectStore.isInstalled,
        "no object store is installed; .ci/python-clients installs SeaweedFS"))
struct StoreTests {
    private func withFixture(
        test: String = #function, _ body: (StoreFixture) async throws -> Void
    ) async throws {
        try await withTestScope { scope in
            try await body(try StoreFixture(try .ofSuite(), in: scope, test: test))
        }
    }

    /// Images of all formats, from less than a kilobyte to 20 MB: 200 for eight machines in the long form.
    @Test func whatOneMachineFetchedTheOthersHaveWithoutTheirOrigin() async throws {
        try await withFixture { fixture in
            let formats = fixture.formats()
            #expect(formats.count >= 8)
            let large = fixture.image(
                "large.png", SampleImage.png(byteCount: 20_000_000, seed: 201))
            let count = isLongForm ? 200 : 60
            let images = formats + [large] + fixture.images(0..<count - 1 - formats.count)
            let first = try await fixture.daemon()
            #expect(try await first.takes(images))
            try await first.writesToStore()
            #expect(try await first.metric("storeUploads") == count)
            #expect(try await first.metric("storeMisses") == count)
            for _ in 0..<(isLongForm ? 6 : 1) {
                let next = try await fixture.daemon()
                #expect(try await next.takes(images))
                try await next.stop()
            }
            #expect(fixture.origin.requests().count == count)
            try await fixture.origin.stop()
            let last = try await fixture.daemon()
            #expect(try await last.takes(images))
            for image in images {
                let bytes = try contents(of: last.path(image.url))
                #expect(bytes == image.bytes, "\(image.url)")
            }
            for image in images.prefix(12) {
                try await expectSame(image, on: first, and: last, ahead: 0)
            }
            let info = try await last.cachectl("info", images[0].url)
            #expect(info.text.contains("from the store, fetched from its origin"))
            let bytes = images.reduce(0) { $0 + $1.bytes.count }
            #expect(try await last.metric("bytesFromStore") == bytes)
        }
    }

    /// The origin of the tests is on the loopback, which one machine may connect to and the other may not.
    @Test func whatOneMachineMayReachStaysThere() async throws {
        try await withFixture { fixture in
            let images = fixture.images(0..<3)
            let first = try await fixture.daemon(["CACHED_STORE_PRIVATE": nil])
            #expect(try await first.takes(images))
            try await first.writesToStore()
            #expect(try await first.metric("storeUploads") == 0)
            let sharing = try await fixture.daemon()
            #expect(try await sharing.takes(images))
            try await sharing.writesToStore()
            #expect(try await sharing.metric("storeUploads") == 3)
            let second = try await fixture.daemon(["CACHED_STORE_PRIVATE": nil])
            #expect(try await second.takes(images))
            #expect(try await second.metric("storeHits") == 0)
            #expect(fixture.origin.requests().count == 9)
        }
    }

    /// - Parameter ahead: seconds by which the clock of the second machine is ahead.
    private func expectSame(
        _ image: StoreFixture.Image, on first: DaemonFixture, and second: DaemonFixture, ahead: Int
    ) async throws {
        let known = try await first.status(image.url, details: true)
        let found = try await second.status(image.url, details: true)
        #expect(found.mediaType == known.mediaType && found.etag == known.etag)
        #expect(found.width == known.width && found.height == known.height)
        #expect(found.sha256 == known.sha256 && found.source == .store)
        #expect(known.source == nil)
        #expect(abs((found.freshUntil ?? 0) - ahead - (known.freshUntil ?? 0)) <= 1)
        #expect(abs((found.fetchedAt ?? 0) - ahead - (known.fetchedAt ?? 0)) <= 1)
    }

    /// Signatures allow a quarter of an hour.
    @Test(.disabled(if: isSanitized, "a sanitizer has to be loaded first"))
    func theClocksOfTheMachinesNeedNotAgree() async throws {
        try await withFixture { fixture in
            let images = fixture.images(0..<10)
            let first = try await fixture.daemon()
            #expect(try await first.takes(images))
            try await first.writesToStore()
            for ahead in [600, -600] {
                let other = try await fixture.daemon(
                    try await clock(ahead: ahead, in: fixture.scope))
                #expect(try await other.takes(images))
                #expect(try await other.metric("storeHits") == 10)
                for image in images.prefix(3) {
                    try await expectSame(image, on: first, and: other, ahead: ahead)
                }
            }
            #expect(fixture.origin.requests().count == 10)
            let wrong = try await fixture.daemon(try await clock(ahead: 1200, in: fixture.scope))
            #expect(try await wrong.takes(images))
            #expect(try await wrong.metric("storeHits") == 0)
            let answer = try await wrong.cachectl("store")
            #expect(answer.status == .exited(1))
            #expect(answer.errorText.contains("RequestTimeTooSkewed"))
            #expect(answer.errorText.contains("clock"))
        }
    }

    /// The environment of a program whose wall clock is so many seconds ahead. clock_gettime(2), time(2)
    private func clock(ahead: Int, in scope: TestScope) async throws -> [String: String?] {
        let text = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <sys/time.h>
            #include <time.h>
            int clock_gettime(clockid_t clock, struct timespec *time) {
                static int (*next)(clockid_t, struct timespec *);
                if (!next) next = dlsym(RTLD_NEXT, "clock_gettime");
                int result = next(clock, time);
                if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += \(ahead);
                return result;
            }
            time_t time(time_t *time) {
                struct timespec now;
                clock_gettime(CLOCK_REALTIME, &now);
                if (time) *time = now.tv_sec;
                return now.tv_sec;
            }
            int gettimeofday(struct timeval *restrict time, void *restrict zone) {
                struct timespec now;
                clock_gettime(CLOCK_REALTIME, &now);
                time->tv_sec = now.tv_sec;
                time->tv_usec = now.tv_nsec / 1000;
                return 0;
            }
            """
        let folder = try TemporaryDirectory(in: scope)
        let (source, library) = (try folder.write(text, to: "clock.c"), folder.file("clock.so"))
        try await runSuccessfully("cc", ["-shared", "-fPIC", "-o", library, source, "-ldl"])
        return ["LD_PRELOAD": library]
    }

    @Test func theAdministratorSeesWhetherTheStoreCanBeUsed() async throws {
        try await withFixture { fixture in
            let good = try await fixture.daemon()
            let answer = try await good.cachectl("store")
            #expect(answer.status == .success)
            for word in ["GET", "PUT", "DELETE", "exclusive", "the same as the store's"] {
                #expect(answer.text.contains(word))
            }
            let reader = [
                "AWS_ACCESS_KEY_ID": "readonly", "AWS_SECRET_ACCESS_KEY": "readonlysecret",
            ]
            let cases: [([String: String?], String)] = [
                (["AWS_SECRET_ACCESS_KEY": "wrong"], "SignatureDoesNotMatch"),
                (["AWS_ACCESS_KEY_ID": "nobody"], "InvalidAccessKeyId"),
                (["CACHED_STORE": "s3://elsewhere"], "NoSuchBucket"),
                (reader, "PUT: AccessDenied"),
            ]
            for (environment, code) in cases {
                let daemon = try await fixture.daemon(environment)
                let answer = try await daemon.cachectl("store")
                #expect(answer.status == .exited(1))
                #expect(answer.errorText.contains(code))
                // Images come all the same.
                #expect(try await daemon.takes(fixture.images(0..<20)))
                #expect(!daemon.log.contains("wrong"))
            }
            let without = try await DaemonFixture.start(in: fixture.scope)
            #expect(try await without.cachectl("store").status == .exited(1))
        }
    }

    @Test func aKeyThatMayOnlyReadReadsAndIsToldOnce() async throws {
        try await withFixture { fixture in
            let writer = try await fixture.daemon()
            #expect(try await writer.takes(fixture.images(0..<10)))
            try await writer.writesToStore()
            let reader = try await fixture.daemon([
                "AWS_ACCESS_KEY_ID": "readonly", "AWS_SECRET_ACCESS_KEY": "readonlysecret",
            ])
            #expect(try await reader.takes(fixture.images(0..<60)))
            #expect(try await reader.metric("storeHits") == 10)
            try await reader.process.waitForLine(containing: "the store refuses images")
            #expect(fixture.origin.requests().count == 60)
            try await reader.stop()
            let lines = reader.log.split(separator: "\n").filter { $0.contains("refuses images") }
            #expect(lines.count == 1)
            #expect(lines.first?.contains("AccessDenied") == true)
        }
    }

    /// The daemon has restricted itself, and still reads a file that another program puts in the place of the first one.
    @Test func credentialsAreReadAgainWhenTheirFileIsReplaced() async throws {
        try await withFixture { fixture in
            let home = try TemporaryDirectory(in: fixture.scope)
            let keyID = fixture.environment["AWS_ACCESS_KEY_ID"] ?? ""
            func write(_ secret: String, to name: String) throws {
                let text = """
                    [default]
                    aws_access_key_id = \(keyID)
                    aws_secret_access_key = \(secret)

                    """
                try home.write(text, to: name)
            }
            try write("wrong", to: "credentials")
            let daemon = try await fixture.daemon([
                "AWS_ACCESS_KEY_ID": nil, "AWS_SECRET_ACCESS_KEY": nil,
                "AWS_SHARED_CREDENTIALS_FILE": home.file("credentials"),
            ])
            #expect(daemon.log.contains("others may read the credentials of the store"))
            #expect(try await daemon.takes(fixture.images(0..<20)))
            let answer = try await daemon.cachectl("store")
            #expect(answer.errorText.contains("SignatureDoesNotMatch"))
            try write(fixture.environment["AWS_SECRET_ACCESS_KEY"] ?? "", to: "new")
            #expect(rename(home.file("new"), home.file("credentials")) == 0)
            // If a person asks, the store is tried at once.
            try await waitUntil("the new credentials to be read") {
                try await daemon.cachectl("store").status == .success
            }
            #expect(try await daemon.takes(fixture.images(20..<40)))
            try await daemon.writesToStore()
            #expect(try await daemon.metric("storeUploads") >= 20)
        }
    }

    @Test func anImageCanBeRemovedFromTheStoreToo() async throws {
        try await withFixture { fixture in
            let image = fixture.images(0..<1)
            let first = try await fixture.daemon()
            #expect(try await first.takes(image))
            try await first.writesToStore()
            let removal = try await first.cachectl("remove", "--store", image[0].url)
            #expect(removal.status == .success)
            try await first.writesToStore()
            #expect(try await first.metric("storeDeleted") == 1)
            let second = try await fixture.daemon()
            #expect(try await second.takes(image))
            #expect(try await second.metric("storeMisses") == 1)
            let without = try await DaemonFixture.start(in: fixture.scope)
            let refusal = try await without.cachectl("remove", "--store", image[0].url)
            #expect(refusal.status == .exited(1))
        }
    }

    /// Eight machines have the same schedule, and none has the images.
    @Test func prefetchesOfManyMachinesAskTheOriginSeldom() async throws {
        try await withFixture { fixture in
            let images = fixture.images(0..<60)
            var daemons: [DaemonFixture] = []
            for _ in 0..<8 {
                daemons.append(try await fixture.daemon())
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for daemon in daemons {
                    group.addTask {
                        let urls = images.map(\.url)
                        let message = call(
                            "Fetch", urls, parameters: #""priority":"background""#)
                        let items = try await daemon.ask(message).items
                        #expect(items.allSatisfy { $0.state == .cached })
                    }
                }
                try await group.waitForAll()
            }
            let requests = Dictionary(grouping: fixture.origin.requests(), by: \.path)
            #expect(requests.count == 60)
            #expect(fixture.origin.requests().count <= 180)
        }
    }

    /// Nobody has the images, and all machines want them at once. A download takes half a second. Nobody waits for these
    /// images, so however slow this machine is, a claim is over before the patience of the others.
    @Test func aNewImageIsDownloadedOnceForAll() async throws {
        try await withFixture { fixture in
            let images = fixture.images(0..<6)
            for image in images {
                let path = image.url.dropFirst(fixture.origin.url("").count)
                let head =
                    "Content-Type: image/png\r\nCache-Control: max-age=5000\r\n"
                    + "Content-Length: \(image.bytes.count)\r\n\r\n"
                fixture.origin.route(
                    String(path),
                    [
                        .trickle(Array("HTTP/1.1 200 OK\r\n".utf8), bytesPerSecond: 34),
                        .bytes(Array(head.utf8) + image.bytes),
                    ])
            }
            var daemons: [DaemonFixture] = []
            for _ in 0..<8 {
                daemons.append(try await fixture.daemon(["CACHED_STORE_TIMEOUT": "10s"]))
            }
            let prefetch = call(
                "Fetch", images.map(\.url), parameters: #""priority":"background""#)
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for daemon in daemons {
                    group.addTask {
                        try await daemon.ask(prefetch).items.allSatisfy { $0.state == .cached }
                    }
                }
                for try await isDone in group { #expect(isDone) }
            }
            #expect(fixture.origin.requests().count <= 12)
            for image in images {
                let bytes = try contents(of: daemons[7].path(image.url))
                #expect(bytes == image.bytes)
            }
        }
    }

    /// Uploads that wait end with the daemon, within the time for them.
    @Test func writesThatWaitDelayTheEndForTheirTimeOnly() async throws {
        try await withFixture { fixture in
            let count = isLongForm ? 5000 : 300
            let silent = try ScriptedOrigin(in: fixture.scope)
            let gate = try Gate()
            defer { gate.open() }
            let images = fixture.images(0..<count)
            for image in images {
                silent.route(try fixture.objectPath(image)) { request in
                    request.method == "PUT" ? [.wait(gate)] : .storeError(404, "NoSuchKey")
                }
            }
            let daemon = try await fixture.daemon(["CACHED_STORE_ENDPOINT": silent.url("")])
            #expect(try await daemon.takes(images))
            #expect(try await daemon.metric("storeQueued") >= count - 4)
            let watch = Stopwatch()
            try await daemon.stop()
            #expect(watch.time < .seconds(3))
            let line = daemon.log.split(separator: "\n").first {
                $0.contains("the daemon ends before all images are in the store")
            }
            let left = line?.firstMatch(of: /images[=:"]+([0-9]+)/).flatMap { Int($0.1) }
            #expect(left ?? 0 >= count - 32)
        }
    }
}
