import CacheKey
import CacheWire
import Foundation
import TestSupport
import Testing

/// Images at signed addresses: `cached-gallery --serve`.
@Suite(.timeLimit(.minutes(2)))
struct SignedImageTests {
    /// A running face with its secret.
    private struct Face {
        let web: WebClient
        let process: ChildProcess
        let secret: String

        /// The path that `cached-gallery --sign` prints.
        func path(_ url: String, _ arguments: String...) async throws -> String {
            let output = try await run(
                BuiltProducts.program("cached-gallery"),
                ["--sign", url, "--secret-file", secret] + arguments,
                environment: minimalEnvironment())
            guard output.status == .success else { throw TestFailure(output.errorText) }
            return output.text.trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    private static let secret = String(repeating: "0123456789abcdef", count: 4)

    private func face(
        _ daemon: DaemonFixture, _ arguments: [String] = [], in scope: TestScope
    ) async throws -> Face {
        let directory = try TemporaryDirectory(in: scope)
        let file = try directory.write(Self.secret + "\n", to: "secret")
        chmod(file, 0o600)
        let process = try ChildProcess(
            BuiltProducts.program("cached-gallery"),
            ["--serve", "--secret-file", file, "--socket", daemon.socket] + arguments,
            environment: minimalEnvironment(), in: scope)
        let line = try await process.waitForLine(containing: "http://", on: .standardOutput)
        let port = line.firstMatch(of: /127\.0\.0\.1:(\d+)/).flatMap { Int($0.1) }
        return Face(web: WebClient(port: try #require(port)), process: process, secret: file)
    }

    @Test func aSignedImageIsDownloadedOnceAndServed() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png()
            origin.route(
                "/a b.png?x=1&y=é",
                .answer(headers: ["Cache-Control": "max-age=1000"], body: image))
            origin.route(
                "/a.png", .answer(headers: ["Cache-Control": "max-age=1000"], body: image))
            let daemon = try await DaemonFixture.start(in: scope)
            let face = try await face(daemon, in: scope)
            let url = origin.url("/a.png")
            let path = try await face.path(url)
            for _ in 0..<3 {
                let response = try await face.web.request("GET", path)
                #expect(response.status == 200 && response.body == image)
                #expect(response.fields["content-type"] == "image/png")
                #expect(response.fields["x-content-type-options"] == "nosniff")
                let lifetime = response.fields["cache-control"]?.dropFirst("max-age=".count)
                #expect((900...1000).contains(lifetime.flatMap { Int($0) } ?? 0))
            }
            #expect(origin.requests("/a.png").count == 1)
            // It is served without the daemon while it is fresh.
            try await daemon.stop()
            #expect(try await face.web.request("GET", path).body == image)
            let head = try await face.web.request("HEAD", path)
            #expect(head.status == 200 && head.body.isEmpty)
            #expect(head.fields["content-length"] == "\(image.count)")
        }
    }

    @Test func aHeadCanAskForLater() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route(
                "/a.png",
                .gated(
                    SampleImage.png(byteCount: 9000), after: 3000, gate,
                    headers: ["Cache-Control": "max-age=1000"]))
            let daemon = try await DaemonFixture.start(in: scope)
            let face = try await face(daemon, in: scope)
            let (url, later) = (
                origin.url("/a.png"), ["Prefer": "handling=lenient, Respond-Async; x=1"]
            )
            let path = try await face.path(url)
            let response = try await face.web.request("HEAD", path, later)
            #expect(response.status == 202)
            #expect(response.fields["preference-applied"] == "respond-async")
            try await gate.reached()
            // The answer has come before the image.
            #expect(try await daemon.status(url).state == .inFlight)
            let wrong = path.replacing("&sig=", with: "&sig=0")
            #expect(try await face.web.request("HEAD", wrong, later).status == 403)
            gate.open()
            try await daemon.waitForState(.cached, of: url)
            #expect(try await face.web.request("HEAD", path, later).status == 200)
            try await daemon.stop()
            let other = try await face.path(origin.url("/b.png"))
            #expect(try await face.web.request("HEAD", other, later).status == 503)
        }
    }

    /// 64 requests wait for slow images of one site, and further ones are refused. An image of another site comes.
    @Test func slowImagesOfOneSiteKeepNobodyFromOthers() async throws {
        try await withTestScope { scope in
            let gate = try Gate()
            let (slow, quick) = (try ScriptedOrigin(in: scope), try ScriptedOrigin(in: scope))
            slow.route("/a.png", [.wait(gate), .close])
            quick.route("/b.png", .answer(body: SampleImage.png()))
            let daemon = try await DaemonFixture.start(in: scope)
            let face = try await face(daemon, in: scope)
            let script = """
                import base64, hmac, select, socket, sys
                port, secret, slow, quick = int(sys.argv[1]), sys.argv[2].encode(), sys.argv[3], sys.argv[4]
                def text(data): return base64.urlsafe_b64encode(data).decode()
                def ask(url):
                    path = "/proxy/%s/%s" % (text(hmac.digest(secret, url.encode(), "sha256")), text(url.encode()))
                    s = socket.create_connection(("127.0.0.1", port))
                    s.sendall(("GET %s HTTP/1.1\\r\\nHost: 127.0.0.1:%d\\r\\n\\r\\n" % (path, port)).encode())
                    return s
                def status(s): return int(s.recv(100).split()[1])
                held = [ask("%s?%d" % (slow, n)) for n in range(80)]
                refused = select.select(held, [], [])[0]
                print(status(refused[0]), status(ask(quick)))
                """
            let output = try await run(
                "python3",
                [
                    "-c", script, "\(face.web.port)", Self.secret, slow.url("/a.png"),
                    quick.url("/b.png"),
                ])
            #expect(output.lines == ["503 200"], "\(output.errorText)")
            gate.open()
        }
    }

    @Test func theSignatureIsWhatTheDocumentationSays() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let face = try await face(daemon, in: scope)
            let url = "https://a.example/ä b.png?x=1&y=+%20"
            let key = Array(url.utf8).withUnsafeBytes { CacheKey(urlBytes: $0) }
            let openssl = try await runSuccessfully(
                "openssl", ["dgst", "-sha256", "-hmac", Self.secret], input: Array(url.utf8))
            let signature = openssl.suffix(65).dropLast()
            let escaped = "https%3A%2F%2Fa.example%2F%C3%A4%20b.png%3Fx%3D1%26y%3D%2B%2520"
            #expect(try await face.path(url) == "/i/\(key)?url=\(escaped)&sig=\(signature)")
            let expiring = try await face.path(url, "--expires-in", "60")
            let expires = try #require(expiring.firstMatch(of: /&expires=(\d+)&/)?.1)
            let timed = try await runSuccessfully(
                "openssl", ["dgst", "-sha256", "-hmac", Self.secret],
                input: Array("\(expires)\n\(url)".utf8))
            #expect(expiring.hasSuffix("&sig=\(timed.suffix(65).dropLast())"))
        }
    }

    @Test func rangesAndConditionsAreAnswered() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png()
            origin.route("/a.png", .answer(headers: ["Cache-Control": "max-age=9"], body: image))
            let daemon = try await DaemonFixture.start(in: scope)
            let face = try await face(daemon, in: scope)
            let path = try await face.path(origin.url("/a.png"))
            _ = try await face.web.request("GET", path)
            _ = try await ExtendedAttributes.all(of: daemon.path(origin.url("/a.png")))
            let tag = try #require(try await face.web.request("GET", path).fields["etag"])
            let item = try await daemon.status(origin.url("/a.png"), details: true)
            #expect(tag == "\"\(item.sha256 ?? "")\"")
            for tags in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                let response = try await face.web.request("GET", path, ["If-None-Match": tags])
                #expect(response.status == 304 && response.body.isEmpty)
            }
            #expect(
                try await face.web.request("GET", path, ["If-None-Match": "\"x\""]).status == 200)
            let size = image.count
            let parts: [(String, Range<Int>)] = [
                ("bytes=0-0", 0..<1), ("bytes=4-9", 4..<10), ("bytes=10-", 10..<size),
                ("bytes=-5", (size - 5)..<size), ("bytes=-99999", 0..<size),
                ("bytes=3-99999", 3..<size),
            ]
            for (range, part) in parts {
                let response = try await face.web.request("GET", path, ["Range": range])
                #expect(response.status == 206 && response.body == Array(image[part]), "\(range)")
                let content = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"
                #expect(response.fields["content-range"] == content)
            }
            for range in ["bytes=\(size)-", "bytes=-0"] {
                let response = try await face.web.request("GET", path, ["Range": range])
                #expect(response.status == 416)
                #expect(response.fields["content-range"] == "bytes */\(size)")
            }
            for range in ["bytes=5-2", "bytes=a-b", "bytes=0-1,3-4", "items=0-1", "bytes=--1"] {
                let response = try await face.web.request("GET", path, ["Range": range])
                #expect(response.status == 200 && response.body == image, "\(range)")
            }
            let other = ["Range": "bytes=0-0", "If-Range": "\"x\""]
            #expect(try await face.web.request("GET", path, other).status == 200)
        }
    }

    @Test func ofTenThousandForgedRequestsNoneIsServed() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let daemon = try await DaemonFixture.start(in: scope)
            let face = try await face(daemon, in: scope)
            let url = origin.url("/a.png")
            let right = try await face.path(url)
            #expect(try await face.web.request("GET", right).status == 200)
            let expired = try await face.path(url, "--expires-in", "1")
            let before = origin.requests().count
            var random = SeededGenerator(seed: 41)
            let forged = try await offPool { [forgeries = forgeries(right, expired, &random)] in
                let descriptor = try WebConnection.connect(face.web.port)
                defer { close(descriptor) }
                // One connection, one request after the other; the last one closes.
                let text = forgeries.enumerated().map { number, target in
                    let isLast = number == forgeries.count - 1
                    return "GET \(target) HTTP/1.1\r\nHost: \(face.web.host)\r\n"
                        + (isLast ? "Connection: close\r\n\r\n" : "\r\n")
                }
                return WebConnection.exchange(descriptor, Array(text.joined().utf8))
            }
            let statuses = String(decoding: forged, as: UTF8.self).matches(
                of: /HTTP\/1\.1 (\d\d\d)/
            )
            .map { $0.1 }
            #expect(statuses.count == 10_000)
            #expect(statuses.allSatisfy { ["400", "403", "404"].contains($0) })
            #expect(!forged.contains(SampleImage.png()))
            for host in ["a.example", "127.0.0.1", "localhost", "127.0.0.1:80", ""] {
                let response = try await face.web.request("GET", right, ["Host": host])
                #expect(response.status == 421 && response.text.contains("message"))
            }
            for method in ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT"] {
                #expect(try await face.web.request(method, right).status != 200)
            }
            #expect(origin.requests().count == before)
        }
    }

    /// Targets that differ from a signed one by little, or by much.
    private func forgeries(
        _ right: String, _ expired: String, _ random: inout SeededGenerator
    ) -> [String] {
        let digits = Array("0123456789abcdef".utf8)
        let end = right.utf8.count - 64
        return (0..<10_000).map { number in
            var bytes = Array(right.utf8)
            switch number % 5 {
            case 0:
                let index = Int.random(in: end..<bytes.count, using: &random)
                bytes[index] = digits.filter { $0 != bytes[index] }.randomElement(using: &random)!
            case 1:
                // Another URL under the same signature.
                let index = right.utf8.distance(
                    from: right.startIndex, to: right.firstRange(of: "url=")!.upperBound)
                bytes[index + 25 + number % 8] ^= 1
            case 2: bytes.removeLast(1 + number % 64)
            case 3: return right.replacing("&sig", with: "&expires=\(4_000_000_000 + number)&sig")
            default:
                return expired.replacing(/expires=(\d+)/) { _ in "expires=\(9_000_000 + number)" }
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// The path that Miniflux writes for an image.
    private func proxied(_ url: String, secret: String = Self.secret) async throws -> String {
        let script = """
            import base64, hmac, sys
            key, url = (text.encode() for text in sys.argv[1:])
            encode = lambda data: base64.urlsafe_b64encode(data).decode()
            print(f"/proxy/{encode(hmac.digest(key, url, 'sha256'))}/{encode(url)}")
            """
        return try await runSuccessfully("python3", ["-c", script, secret, url])
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test func addressesOfMinifluxAreServed() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png()
            // The alphabet for URLs differs from the usual one in the characters for these.
            let names = ["/a.png", "/b.png?x=~~~~~~", "/cc.png?x=??????"]
            for name in names { origin.route(name, .answer(body: image)) }
            let daemon = try await DaemonFixture.start(in: scope)
            let face = try await face(daemon, in: scope)
            for name in names {
                let path = try await proxied(origin.url(name))
                let response = try await face.web.request("GET", path)
                #expect(response.status == 200 && response.body == image, "\(path)")
            }
            let before = origin.requests().count
            let right = try await proxied(origin.url("/a.png"))
            let other = try await proxied(
                origin.url("/a.png"), secret: String(repeating: "x", count: 32))
            let (signature, url) = (right.split(separator: "/")[1], right.split(separator: "/")[2])
            // An address that ends is signed with its time, and cannot be made one that does not end.
            let ending = try await face.path(origin.url("/a.png"), "--expires-in", "60")
            let time = try #require(ending.firstMatch(of: /expires=(\d+)/)?.1)
            let timed = try await proxied("\(time)\n\(origin.url("/a.png"))")
            let foreign = try await proxied(origin.url(names[1]))
            for (path, status) in [
                (other, 403), (timed, 403),
                ("/proxy/\(signature)/\(foreign.split(separator: "/")[2])", 403),
                ("/proxy/\(signature.dropLast(4))/\(url)", 403), ("/proxy//\(url)", 403),
                ("/proxy/\(signature)/", 403), ("/proxy/\(signature)", 404), ("/proxy/", 404),
                ("/proxy/\(url)", 404), (right + "/", 404), (right + "=", 404),
                (right.replacing("=", with: "%3D"), 404), ("/x" + right, 404),
                ("/proxy/\(signature.dropLast())*/\(url)", 404),
                // Bits that do not count are not zero.
                ("/proxy/\(signature.dropLast(2))B=/\(url)", 404),
            ] {
                #expect(try await face.web.request("GET", path).status == status, "\(path)")
            }
            #expect(origin.requests().count == before)
        }
    }

    @Test func anAddressEndsAtItsTime() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let daemon = try await DaemonFixture.start(in: scope)
            let face = try await face(daemon, in: scope)
            let path = try await face.path(origin.url("/a.png"), "--expires-in", "2")
            #expect(try await face.web.request("GET", path).status == 200)
            try await waitUntil("the end of the address") {
                try await face.web.request("GET", path).status == 403
            }
            let later = try await face.path(origin.url("/a.png"), "--expires-in", "600")
            #expect(try await face.web.request("GET", later).status == 200)
        }
    }

    @Test func itAsksOnlyWhereTheDaemonMay() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            origin.route("/gone.png", .answer(404))
            origin.route("/page", .answer(headers: ["Content-Type": "text/html"], body: [60, 61]))
            var options = DaemonFixture.Options()
            options.allowsLoopback = false
            let strict = try await DaemonFixture.start(options, in: scope)
            let closed = try await face(strict, in: scope)
            let path = try await closed.path(origin.url("/a.png"))
            let refused = try await closed.web.request("GET", path)
            #expect(refused.status == 502)
            #expect(!refused.text.contains("127.0.0.1"))
            #expect(origin.requests().isEmpty)
            let daemon = try await DaemonFixture.start(in: scope)
            let face = try await face(daemon, in: scope)
            for (name, status) in [("/gone.png", 404), ("/page", 502)] {
                let path = try await face.path(origin.url(name))
                #expect(try await face.web.request("GET", path).status == status)
            }
            for text in ["file:///etc/passwd", "http://a b/", "ftp://a.example/", "x"] {
                let path = try await face.path(text)
                #expect(try await face.web.request("GET", path).status == 502)
            }
        }
    }

    @Test func theHostOfAProxyIsAccepted() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let daemon = try await DaemonFixture.start(in: scope)
            let face = try await face(daemon, ["--host", "images.example.org"], in: scope)
            let path = try await face.path(origin.url("/a.png"))
            let fields = ["Host": "images.example.org", "Sec-Fetch-Site": "cross-site"]
            let response = try await face.web.request("GET", path, fields)
            #expect(response.status == 200)
            #expect(response.fields["cross-origin-resource-policy"] == "cross-origin")
            #expect(
                try await face.web.request("GET", path, ["Host": "b.example.org"]).status == 421)
        }
    }

    @Test func aSecretThatOthersCanReadIsNotUsed() async throws {
        try await withTestScope { scope in
            let directory = try TemporaryDirectory(in: scope)
            let file = try directory.write(Self.secret, to: "secret")
            chmod(file, 0o644)
            let short = try directory.write("short", to: "short")
            chmod(short, 0o600)
            for (path, status, words) in [
                (file, 78, "chmod 600"), (short, 78, "openssl rand"),
                ("/nonexistent", 66, "cannot open"),
                (directory.path, 78, "not a file"),
            ] {
                let output = try await run(
                    BuiltProducts.program("cached-gallery"), ["--serve", "--secret-file", path])
                #expect(output.status == .exited(Int32(status)), "\(path)")
                #expect(output.errorText.contains(words))
            }
            for arguments in [
                ["--serve"], ["--host", "a"], ["--secret-file", file], ["--port", "65536"],
            ] {
                let output = try await run(BuiltProducts.program("cached-gallery"), arguments)
                #expect(output.status == .exited(64), "\(arguments)")
            }
        }
    }
}
