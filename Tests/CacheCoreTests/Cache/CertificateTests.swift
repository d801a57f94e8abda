import CacheKey
import CacheValues
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

@Suite("Cache: certificates and TLS", .timeLimit(.minutes(5)))
struct CertificateTests {
    /// Four attempts, so that a test sees whether a failure is retried.
    private func fixture(
        _ authority: CertificateAuthority, in scope: TestScope
    ) throws -> CacheFixture {
        try CacheFixture(in: scope) {
            $0.transfers.certificateFile = authority.certificate
            $0.retry = RetryPolicy()
            $0.retry.firstPause = .milliseconds(1)
        }
    }

    /// openssl-s_server(1), which serves the files of a folder.
    private func server(
        _ identity: CertificateAuthority.Identity, _ folder: String, _ arguments: [String],
        in scope: TestScope
    ) async throws -> Int {
        let process = try ChildProcess(
            "/bin/sh",
            [
                "-c", "cd \"$0\" && exec openssl s_server \"$@\"", folder, "-accept",
                "127.0.0.1:0", "-cert", identity.certificate, "-key", identity.key, "-WWW",
            ] + arguments, in: scope)
        try await process.waitForLine(containing: "ACCEPT", on: .standardOutput)
        let line = process.text(.standardOutput).split(separator: "\n").last {
            $0.hasPrefix("ACCEPT ")
        }
        return try #require(line?.split(separator: ":").last.flatMap { Int($0) })
    }

    /// Browsers offer no DHE, so such a server chooses something better (RFC 8446 §4.2.7 has the least group).
    @Test func aServerThatWouldChooseAWeakGroupIsConnectedTo() async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let identity = try await authority.issue(
                for: ["IP:127.0.0.1"], key: ["-newkey", "rsa:2048"])
            let folder = try TemporaryDirectory(in: scope)
            let image = SampleImage.png(byteCount: 9000)
            try folder.write(image, to: "a.png")
            let group = folder.file("group.pem")
            try await runSuccessfully(
                "openssl",
                ["genpkey", "-genparam", "-algorithm", "DH", "-out", group]
                    + [
                        "-pkeyopt", "dh_paramgen_prime_len:1024", "-pkeyopt",
                        "dh_paramgen_generator:2",
                    ])
            let port = try await server(
                identity, folder.path,
                [
                    "-tls1_2", "-serverpref", "-dhparam", group, "-cipher",
                    "DHE-RSA-AES128-GCM-SHA256:AES128-GCM-SHA256:@SECLEVEL=0",
                ], in: scope)
            let fixture = try fixture(authority, in: scope)
            let imageRequest = ImageRequest(try CacheURL("https://127.0.0.1:\(port)/a.png"))
            let waiter = fixture.cache.fetch([imageRequest], FetchOptions())
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            #expect(try contents(of: fixture.cache.path(of: imageRequest.key)) == image)
        }
    }

    /// GnuTLS can leave out the extension of RFC 5746, as old servers do. Its server answers with a page.
    @Test func aServerWithoutSecureRenegotiationIsConnectedTo() async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let identity = try await authority.issue(for: ["IP:127.0.0.1"])
            let port = try await withTestScope { try ReservedPort(in: $0).number }
            let process = try ChildProcess(
                "gnutls-serv",
                [
                    "--http", "--port", "\(port)", "--x509certfile", identity.certificate,
                    "--x509keyfile", identity.key, "--priority",
                    "NORMAL:-VERS-TLS1.3:%DISABLE_SAFE_RENEGOTIATION",
                ], in: scope)
            try await process.waitForLine(containing: "listening", on: .standardError)
            let fixture = try fixture(authority, in: scope)
            let imageRequest = ImageRequest(try CacheURL("https://127.0.0.1:\(port)/a.png"))
            let waiter = fixture.cache.fetch([imageRequest], FetchOptions())
            let failures = try await fixture.outcome(of: waiter).failures.values
            #expect(failures.map(\.kind) == [.notAnImage], "\(failures.map(\.message))")
        }
    }

    @Test func anAlertOfTheServerIsToldAndNotRetried() async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let folder = try TemporaryDirectory(in: scope)
            // The server wants a certificate of its client.
            for (version, reason) in [
                ("-tls1_2", "alert handshake failure"), ("-tls1_3", "alert certificate required"),
            ] {
                let port = try await server(
                    authority.issue(for: ["IP:127.0.0.1"]), folder.path, [version, "-Verify", "1"],
                    in: scope)
                let fixture = try fixture(authority, in: scope)
                let imageRequest = ImageRequest(try CacheURL("https://127.0.0.1:\(port)/a.png"))
                let waiter = fixture.cache.fetch([imageRequest], FetchOptions())
                let failures = try await fixture.outcome(of: waiter).failures.values
                #expect(failures.map(\.kind) == [.tls])
                #expect(failures.first?.message.contains(reason) == true, "\(failures)")
                #expect(fixture.cache.statistics().retried == 0)
            }
        }
    }

    /// RFC 9525 §2. libcurl would accept the certificate.
    @Test func aNameInTheSubjectAloneIsRefused() async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            for (names, isAccepted) in [
                ([], false), (["email:a@images.test"], false), (["DNS:images.test"], true),
            ] {
                let identity = try await authority.issue(for: names, commonName: "images.test")
                let front = try await TLSTerminator(identity, to: origin, in: scope)
                let fixture = try CacheFixture(in: scope, origin: origin) {
                    $0.transfers.certificateFile = authority.certificate
                    $0.transfers.resolutions = ["images.test:\(front.port):127.0.0.1"]
                }
                let url = try CacheURL("https://images.test:\(front.port)/a.png")
                let waiter = fixture.cache.fetch([ImageRequest(url)], FetchOptions())
                let failures = try await fixture.outcome(of: waiter).failures.values
                #expect(failures.map(\.kind) == (isAccepted ? [] : [.tls]), "\(names)")
                if !isAccepted {
                    #expect(failures.first?.message.contains("only as its common name") == true)
                }
            }
        }
    }

    private enum Fault: CaseIterable {
        case expired, ofAnotherName, ofUnknownAuthority

        var message: String {
            switch self {
            case .expired: "has expired"
            case .ofAnotherName: "is not for this host's name"
            case .ofUnknownAuthority:
                "comes without its issuer: the server sends an incomplete chain, or its authority is not "
                    + "trusted (--ca-file adds one)"
            }
        }
    }

    /// Each fault has another remedy.
    @Test(arguments: Fault.allCases)
    private func theFailureNamesTheFaultOfTheCertificate(fault: Fault) async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let issuer =
                fault == .ofUnknownAuthority ? try await CertificateAuthority(in: scope) : authority
            let identity = try await issuer.issue(
                for: [fault == .ofAnotherName ? "DNS:other.test" : "IP:127.0.0.1"],
                days: fault == .expired ? 0 : 2)
            let origin = try ScriptedOrigin(in: scope)
            let front = try await TLSTerminator(identity, to: origin, in: scope)
            let fixture = try CacheFixture(in: scope, origin: origin) {
                $0.transfers.certificateFile = authority.certificate
            }
            let imageRequest = ImageRequest(try CacheURL(front.url("a.png")))
            let outcome = try await fixture.outcome(
                of: fixture.cache.fetch([imageRequest], FetchOptions()))
            let failure = outcome.failures[imageRequest.key]
            #expect(failure?.kind == .tls)
            #expect(failure?.message == "the server's certificate \(fault.message)")
            #expect(origin.requests().isEmpty)
        }
    }
}
