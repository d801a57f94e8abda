import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// Proxies as people have them: SOCKS, a login, exceptions.
@Suite("Proxies of all kinds", .timeLimit(.minutes(5)))
struct ProxyKindsTests {
    /// A SOCKS proxy that leads every name to this machine, and an origin there.
    private struct Scene {
        let process: ChildProcess
        let port: String
        let origin: ScriptedOrigin

        init(login: String? = nil, in scope: TestScope) async throws {
            let script = Libcached.root + "Tests/IntegrationTests/ThirdParty/socks5.py"
            process = try ChildProcess(
                "python3", [script] + [login].compactMap(\.self), environment: minimalEnvironment(),
                in: scope)
            let line = try await process.waitForLine(containing: "port ", on: .standardOutput)
            port = String(line.dropFirst("port ".count))
            origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
        }

        /// The URL of the image by a name that no resolver knows.
        var named: String { origin.url("/a.png").replacing("127.0.0.1", with: "images.test") }

        /// The hosts that the proxy was asked for.
        var hosts: [String] {
            process.text(.standardOutput).split(separator: "\n").dropFirst().map { String($0) }
        }
    }

    @Test func aSocksProxyThatLooksNamesUpIsToldThem() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(in: scope)
            let daemon = try await DaemonFixture.start(
                ["--proxy", "socks5h://127.0.0.1:\(scene.port)"], in: scope)
            #expect(try await daemon.fetch(scene.named).state == .cached)
            #expect(scene.hosts == ["images.test"])
            let doctor = try await daemon.cachectl("doctor")
            #expect(doctor.text.contains("only literal addresses are refused"))
        }
    }

    @Test func literalAddressesAreRefusedAndNamesAreLookedUpFirstOtherwise() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(in: scope)
            for scheme in ["socks5", "socks5h"] {
                var options = DaemonFixture.Options()
                options.arguments = ["--proxy", "\(scheme)://127.0.0.1:\(scene.port)"]
                options.allowsLoopback = false
                let daemon = try await DaemonFixture.start(options, in: scope)
                for url in [
                    scene.origin.url("/a.png"), "http://0x7f.1/a.png", "http://[::1]/a.png",
                ] {
                    #expect(try await daemon.fetch(url).failure?.kind == "addressRefused", "\(url)")
                }
            }
            let local = try await DaemonFixture.start(
                ["--proxy", "socks5://127.0.0.1:\(scene.port)"], in: scope)
            // The proxy is asked for addresses only, and the name has none.
            #expect(try await local.fetch(scene.named).failure?.kind == "unresolved")
            #expect(scene.hosts.isEmpty)
            #expect(try await local.fetch(scene.origin.url("/a.png")).state == .cached)
            #expect(scene.hosts == ["127.0.0.1"])
        }
    }

    @Test func aLoginComesFromAFileThatOnlyItsOwnerReads() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(login: "ada:se:cret", in: scope)
            let home = try TemporaryDirectory(in: scope)
            let (right, wrong) = (
                try home.write("ada:se:cret\n", to: "right"), try home.write("ada:no", to: "wrong")
            )
            let proxy = ["--proxy", "socks5h://127.0.0.1:\(scene.port)", "--proxy-login"]
            let open = try await run(
                BuiltProducts.program("cached"), ["--check-config"] + proxy + [right],
                environment: minimalEnvironment(["HOME": "/nonexistent"]))
            #expect(open.status == .exited(78) && open.errorText.contains("chmod 600"))
            for file in [right, wrong] { chmod(file, 0o600) }
            let refused = try await DaemonFixture.start(proxy + [wrong], in: scope)
            let failure = try await refused.fetch(scene.named).failure
            #expect(
                failure?.kind == "unreachable" && failure?.message.contains("--proxy-login") == true
            )
            let daemon = try await DaemonFixture.start(proxy + [right], in: scope)
            #expect(try await daemon.fetch(scene.named).state == .cached)
            let shown = try await daemon.cachectl("stats", "--json")
            #expect(!shown.text.contains("cret"))
        }
    }

    @Test func exceptionsAreReachedWithoutTheProxy() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(in: scope)
            let daemon = try await DaemonFixture.start(
                [
                    "--proxy", "socks5h://127.0.0.1:\(scene.port)", "--no-proxy",
                    "127.0.0.0/8,test.example",
                ],
                in: scope)
            #expect(try await daemon.fetch(scene.origin.url("/a.png")).state == .cached)
            #expect(scene.hosts.isEmpty)
            // A name is resolved here then.
            let url = scene.named.replacing("images.test", with: "a.Test.example")
            #expect(try await daemon.fetch(url).failure?.kind == "unresolved")
            #expect(try await daemon.fetch(scene.named).state == .cached)
            #expect(scene.hosts == ["images.test"])
        }
    }
}
