import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// Host names whose addresses change, or that have a forbidden address among others (DNS rebinding). The
/// address that is connected to is the one that was checked.
@Suite(
    "Changing names", .serialized, .timeLimit(.minutes(5)),
    .disabled(if: isSanitized, "a sanitizer has to be loaded first"))
struct DNSRebindingTests {
    private static let allowed = "127.0.0.2"
    private static let forbidden = "127.0.0.1"

    /// A daemon that is allowed to connect to only one of two addresses, an origin on each, and host names.
    private struct Fixture {
        let forbidden: ScriptedOrigin
        let allowed: ScriptedOrigin
        let names: HostNames
        let daemon: DaemonFixture

        init(
            _ addresses: [String], permitting network: String = DNSRebindingTests.allowed + "/32",
            in scope: TestScope
        ) async throws {
            forbidden = try ScriptedOrigin(in: scope)
            allowed = try ScriptedOrigin(beside: forbidden, in: scope)
            names = try HostNames(in: scope)
            try names.set("rebound.test", to: addresses)
            for origin in [forbidden, allowed] {
                origin.route("/a.png", .answer(body: SampleImage.png()))
                origin.route("/b.png", .answer(body: SampleImage.png()))
            }
            allowed.route("/away.png", .redirect(to: forbidden.url("/a.png", host: "other.test")))
            var options = DaemonFixture.Options()
            options.allowsLoopback = false
            options.arguments = ["--allow-network", network]
            options.environment = names.environment
            daemon = try await DaemonFixture.start(options, in: scope)
        }

        func url(_ path: String) -> String { allowed.url(path, host: "rebound.test") }

        func expectNoConnection() {
            #expect(forbidden.connectionsAccepted == 0)
        }
    }

    @Test func aNameThatLaterResolvesToAForbiddenAddressIsRefused() async throws {
        try await withTestScope { scope in
            let fixture = try await Fixture([Self.allowed], in: scope)
            let first = try await fixture.daemon.cachectl("fetch", fixture.url("/a.png"))
            #expect(first.status == .success)
            try fixture.names.set("rebound.test", to: [Self.forbidden])
            // The first daemon may still use the addresses it looked up.
            try await fixture.daemon.stop()
            let daemon = try await fixture.daemon.restart()
            let output = try await daemon.cachectl("fetch", fixture.url("/b.png"))
            #expect(output.status != .success)
            #expect(output.errorText.contains(Self.forbidden), "\(output.errorText)")
            _ = try await daemon.cachectl("fetch", "--refresh", fixture.url("/a.png"))
            #expect(fixture.allowed.requests().count == 1)
            fixture.expectNoConnection()
        }
    }

    @Test(arguments: [[allowed, forbidden], [forbidden, allowed], [forbidden, forbidden]])
    func onlyAllowedAddressesOfANameAreConnectedTo(addresses: [String]) async throws {
        try await withTestScope { scope in
            let fixture = try await Fixture(addresses, in: scope)
            let output = try await fixture.daemon.cachectl("fetch", fixture.url("/a.png"))
            let isReached = output.status == .success
            #expect(isReached == !fixture.allowed.requests().isEmpty)
            #expect(isReached || !addresses.contains(Self.allowed), "\(output.errorText)")
            fixture.expectNoConnection()
        }
    }

    @Test func ifAnAddressRefusesTheNextIsTriedAtOnce() async throws {
        try await withTestScope { scope in
            let addresses = ["127.0.0.3", "127.0.0.4", Self.allowed]
            let fixture = try await Fixture(addresses, permitting: "127.0.0.0/8", in: scope)
            let watch = Stopwatch()
            let output = try await fixture.daemon.cachectl("fetch", fixture.url("/a.png"))
            #expect(output.status == .success, "\(output.errorText)")
            #expect(watch.time < .seconds(2))
        }
    }

    @Test func aRedirectToANameWithAForbiddenAddressIsRefused() async throws {
        try await withTestScope { scope in
            let fixture = try await Fixture([Self.allowed], in: scope)
            try fixture.names.set("other.test", to: [Self.forbidden])
            let output = try await fixture.daemon.cachectl("fetch", fixture.url("/away.png"))
            #expect(output.status != .success)
            #expect(fixture.allowed.requests("/away.png").count == 1)
            fixture.expectNoConnection()
        }
    }
}

/// Host names for one program, which override those of the machine. nss_wrapper(1)
private final class HostNames: Sendable {
    private let file: String
    private let state = Mutex(State())

    private struct State: Sendable {
        var addresses: [String: [String]] = [:]
        var changes = 0
    }

    init(in scope: TestScope) throws {
        file = try TemporaryDirectory(in: scope).file("hosts")
    }

    /// The environment variables the program has to be started with. The library reads a file that the daemon itself
    /// has no use for.
    var environment: [String: String] {
        ["LD_PRELOAD": "libnss_wrapper.so", "NSS_WRAPPER_HOSTS": file, "CACHED_RESTRICT": "no"]
    }

    /// Changes the addresses of a name, even for a running program.
    func set(_ name: String, to addresses: [String]) throws {
        let (text, change) = state.withLock { state in
            state.addresses[name] = addresses
            state.changes += 1
            let lines = state.addresses.flatMap { name, addresses in
                addresses.map { "\($0) \(name)\n" }
            }
            return (lines.joined(), state.changes)
        }
        try Data(text.utf8).write(to: URL(filePath: file), options: .atomic)
        // The file is read again if its modification time, in whole seconds, has changed.
        var times = [timeval](repeating: timeval(tv_sec: 1_000_000 + change, tv_usec: 0), count: 2)
        guard utimes(file, &times) == 0 else { throw TestFailure("\(file): errno \(errno)") }
    }
}
