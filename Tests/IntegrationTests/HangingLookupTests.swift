import CacheWire
import TestSupport
import Testing

/// A name server that does not answer delays only the requests for its names.
@Suite(
    "Hanging names", .serialized, .timeLimit(.minutes(5)),
    .disabled(if: isSanitized, "a sanitizer has to be loaded first"))
struct HangingLookupTests {
    /// Intercepts getaddrinfo(3): lookups of names under `hanging.test` never return.
    private static let resolver = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <netdb.h>
        #include <string.h>
        #include <unistd.h>
        int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                        struct addrinfo **result) {
            int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
                dlsym(RTLD_NEXT, "getaddrinfo");
            if (!name || !strstr(name, "hanging.test")) return next(name, service, hints, result);
            for (;;) pause();
        }
        """

    /// A daemon for which the lookups hang.
    private func daemon(in scope: TestScope) async throws -> DaemonFixture {
        let folder = try TemporaryDirectory(in: scope)
        let source = try folder.write(Self.resolver, to: "resolver.c")
        let library = folder.file("resolver.so")
        try await runSuccessfully("cc", ["-shared", "-fPIC", "-o", library, source, "-ldl"])
        return try await DaemonFixture.start(environment: ["LD_PRELOAD": library], in: scope)
    }

    /// A name is looked up and connected to within 11 s; the fixture has one attempt.
    @Test func aCallEndsWithinItsLimitAlthoughNoLookupDoes() async throws {
        try await withTestScope { scope in
            let daemon = try await daemon(in: scope)
            let urls = (0..<40).map { "http://\($0).hanging.test/a.png" }
            // Lookups that nobody waits for any more come before.
            let leaving = try daemon.connect()
            try await leaving.send(call("Fetch", urls.map { $0 + "?" }) + "\0")
            try await waitUntil("the names to be looked up") {
                try await daemon.metric("transfersRunning") == 40
            }
            leaving.shutdown()
            let watch = Stopwatch()
            let output = try await daemon.cachectl(
                "fetch", "--json", "-", input: Array(urls.joined(separator: "\n").utf8))
            #expect(watch.time < .seconds(25), "\(watch.time)")
            #expect(output.status == .exited(1))
            #expect(output.text.split(separator: "\n").count == 40, "\(output.text)")
            try await waitUntil("the slots to be free") {
                try await daemon.metric("transfersRunning") == 0
            }
        }
    }

    @Test func aFetchAbandonedDuringALookupDelaysNoOtherFetch() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            for number in 0..<3 {
                origin.route("/\(number).png", .answer(body: SampleImage.png(seed: number)))
            }
            let daemon = try await daemon(in: scope)
            #expect(try await daemon.fetch(origin.url("/0.png")).state == .cached)
            // The caller leaves during the lookup.
            let leaving = try daemon.connect()
            let url = "http://a.hanging.test/a.png"
            try await leaving.send(call("Fetch", [url]) + "\0")
            try await waitUntil("the name to be looked up") {
                try await daemon.status(url).phase == .connecting
            }
            let other = origin.url("/1.png")
            #expect(try await daemon.fetch(other).state == .cached)
            leaving.shutdown()
            try await waitUntil("the download to stop") {
                try await daemon.metric("transfersRunning") == 0
            }
            #expect(try await daemon.fetch(origin.url("/2.png")).state == .cached)
        }
    }
}
