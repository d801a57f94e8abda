import CacheFetching
import TestSupport
import Testing

@testable import CacheCore

/// A store that is broken in every way: each image comes from its origin at most a second later than without a store, and
/// the cache says what is wrong.
@Suite("Cache: faults of a store", .serialized, .timeLimit(.minutes(5)))
struct StoreFaultTests {
    enum Fault: String, CaseIterable {
        case killed, frozen, late, slowDown = "503 SlowDown", refused = "403", dripping
        case slow = "50 kB/s", halfBody = "half a body", cut = "cut bodies"
        case certificate = "wrong certificate", unknownHost = "unknown host"
        case closedPort = "closed port", notS3 = "a web server"

        /// The state of the store after the images, as `stats` has it.
        var states: Set<String> {
            switch self {
            case .frozen, .late, .slowDown, .dripping, .halfBody, .cut: ["late"]
            case .slow: ["ok", "late"]
            default: ["refused"]
            }
        }
    }

    private static let image = SampleImage.png(byteCount: 22_000)
    private static let count = 80

    /// A cache whose origin has all images.
    private func fixture(_ store: StoreSettings?, in scope: TestScope) throws -> CacheFixture {
        let fixture = try CacheFixture(in: scope) { $0.store = store }
        fixture.origin.otherwise(
            .answer(headers: ["Cache-Control": "max-age=1000"], body: Self.image))
        return fixture
    }

    /// The times of the images, the shortest first. Four are fetched at once.
    private func times(_ fixture: CacheFixture, atHalf: () async throws -> Void = {}) async throws
        -> [Duration]
    {
        var times: [Duration] = []
        for first in stride(from: 0, to: Self.count, by: 4) {
            if first == Self.count / 2 { try await atHalf() }
            times += try await withThrowingTaskGroup(of: Duration.self) { group in
                for number in first..<first + 4 {
                    group.addTask {
                        let watch = Stopwatch()
                        let outcome = try await fixture.fetch("/\(number).png")
                        #expect(outcome.failures.isEmpty)
                        return watch.time
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        return times.sorted()
    }

    /// Gives every image of the fixture the script, in the store.
    private func answer(
        _ store: ScriptedStore, _ fixture: CacheFixture,
        _ script: (ImageRequest) throws -> OriginScript
    ) throws {
        for number in 0..<Self.count {
            let request = try fixture.imageRequest("/\(number).png")
            store.server.route(store.path(request), try script(request))
        }
    }

    private func place(_ fault: Fault, _ store: ScriptedStore, in scope: TestScope) async throws
        -> StoreLocation
    {
        var endpoint = store.settings.location.endpoint
        switch fault {
        case .certificate:
            let identity = try await CertificateAuthority(in: scope).issue()
            let front = try await TLSTerminator(identity, to: store.server, in: scope)
            endpoint = "https://127.0.0.1:\(front.port)"
        case .unknownHost: endpoint = "http://nowhere.invalid"
        case .closedPort: endpoint = "http://127.0.0.1:1"
        default: break
        }
        return try StoreLocation(
            "s3://images", endpoint: endpoint, region: "us-east-1", style: nil)
    }

    private func inject(
        _ fault: Fault, _ store: ScriptedStore, _ fixture: CacheFixture, _ gate: Gate
    ) throws {
        let image = Self.image
        let half = Array(image.prefix(image.count / 2))
        try answer(store, fixture) { request in
            let fields = store.fields(request, image)
            let head = OriginScript.Step.head(
                200, fields.withDefaults(["Content-Length": "\(image.count)"]))
            return switch fault {
            case .frozen: [.wait(gate)]
            case .late: [.trickle(Array("HTTP/1.1 404 Not Found\r\n".utf8), bytesPerSecond: 5)]
            case .slowDown: .storeError(503, "SlowDown")
            case .refused: .storeError(403, "InvalidAccessKeyId")
            case .dripping: .trickled(image, bytesPerSecond: 2_000, headers: fields)
            case .slow: .trickled(image, bytesPerSecond: 50_000, headers: fields)
            case .halfBody: [head, .bytes(half), .wait(gate)]
            case .cut: [head, .bytes(half), .close]
            case .notS3: .answer(404, headers: ["Content-Type": "text/html"])
            case .killed, .certificate, .unknownHost, .closedPort: [head, .bytes(image)]
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func imagesComeAtMostASecondLater(fault: Fault) async throws {
        try await withTestScope { scope in
            let without = try await times(try fixture(nil, in: scope))
            var store = try ScriptedStore(in: scope, mode: (true, true))
            let gate = try Gate()
            defer { gate.open() }
            store.settings.location = try await place(fault, store, in: scope)
            let fixture = try fixture(store.settings, in: scope)
            try inject(fault, store, fixture, gate)
            let times = try await times(fixture) {
                if fault == .killed { try await store.server.stop() }
            }
            let last = Self.count * 99 / 100
            #expect(times[last] <= without[last] + .seconds(1), "\(times[last])")
            let statistics = try #require(fixture.cache.statistics().store)
            #expect(fault.states.contains(statistics.state))
            if isLongForm {
                print(
                    "|", fault.rawValue, "|", times[Self.count / 2], "|", times[last], "|",
                    without[last], "|", statistics.state, "|", statistics.lastError ?? "", "|")
            }
        }
    }
}
