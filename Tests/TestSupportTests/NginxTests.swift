import TestSupport
import Testing

@Suite("Nginx and certificates", .timeLimit(.minutes(5)))
struct NginxTests {
    @Test func servesAFileOverHTTP() async throws {
        try await withTestScope { scope in
            let root = try TemporaryDirectory(in: scope)
            let image = SampleImage.png(width: 30, height: 20)
            try root.directory("with space")
            try root.write(image, to: "with space/a.png")
            let nginx = try await Nginx(
                serving: ["/": root.path, "/b": root.file("with space")], in: scope)
            let output = try await run("curl", ["-sSi", nginx.url("b/a.png")])
            #expect(Array(output.standardOutput.suffix(image.count)) == image)
            #expect(output.text.contains("Content-Type: image/png"))
            try await nginx.process.waitForLine(
                containing: "GET /b/a.png 200 HTTP/1.1", on: .standardOutput)
        }
    }

    @Test func limitsTheRate() async throws {
        try await withTestScope { scope in
            let root = try TemporaryDirectory(in: scope)
            try root.write(SampleImage.png(byteCount: 300_000), to: "a.png")
            let nginx = try await Nginx(
                serving: ["/": root.path], limitRate: 200_000, in: scope)
            let output = try await run(
                "curl", ["-sS", "-o", "/dev/null", "-w", "%{time_total}", nginx.url("a.png")])
            #expect(try #require(Double(output.text)) > 0.5)
        }
    }

    @Test func speaksHTTP2OverTLSThatVerifies() async throws {
        try await withTestScope { scope in
            let root = try TemporaryDirectory(in: scope)
            try root.write(SampleImage.png(), to: "a.png")
            let authority = try await CertificateAuthority(in: scope)
            let nginx = try await Nginx(
                serving: ["/": root.path], tls: authority.issue(), in: scope)
            for host in ["127.0.0.1", "localhost"] {
                let url = nginx.url("a.png", host: host)
                let output = try await run(
                    "curl",
                    [
                        "-sS4", "--http2", "--cacert", authority.certificate, "-o", "/dev/null",
                        "-w", "%{http_version} %{http_code}", url,
                    ])
                #expect(output.text == "2 200")
            }
            // CURLE_PEER_FAILED_VERIFICATION
            #expect(try await run("curl", ["-sS", nginx.url("a.png")]).status == .exited(60))
        }
    }

    @Test func aCertificateForAnotherNameDoesNotVerify() async throws {
        try await withTestScope { scope in
            let root = try TemporaryDirectory(in: scope)
            let authority = try await CertificateAuthority(in: scope)
            let other = try await authority.issue(for: ["DNS:other.invalid"])
            let nginx = try await Nginx(serving: ["/": root.path], tls: other, in: scope)
            let output = try await run(
                "curl", ["-sS", "--cacert", authority.certificate, nginx.url("a.png")])
            #expect(output.status == .exited(60))
        }
    }

    @Test func reportsAnErrorInItsConfiguration() async throws {
        try await withTestScope { scope in
            let error = await #expect(throws: TestFailure.self) {
                _ = try await Nginx(serving: [:], extra: "nonsense on;", in: scope)
            }
            #expect(error?.description.contains("nonsense") == true)
        }
    }

    @Test func findsRealImages() throws {
        for source in [RealImages.backgrounds, RealImages.icons] {
            #expect(try RealImages.paths(of: source).count > 10)
        }
    }
}
