import CacheKey
import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// A store that is broken in every way: each image comes from its origin at most a second later than without a store, and
/// `cachectl doctor` says what is wrong.
///
/// The long form prints the table of docs/understand/benchmarks.md.
@Suite("Shared store with faults", .serialized, .timeLimit(.minutes(10)))
struct StoreFaultTests {
    enum Fault: String, CaseIterable {
        case killed, frozen, late = "answers after 5 s", slowDown = "503 `SlowDown`"
        case refused = "403 `InvalidAccessKeyId`", dripping = "2 kB/s", slow = "50 kB/s"
        case halfBody = "half a body, then silence", cut = "cut bodies"
        case certificate = "wrong certificate", unknownHost = "unknown host"
        case closedPort = "closed port", notS3 = "a web server"

        /// What doctor says after the images: the level, and a part of the message.
        var finding: [(level: String, words: String)] {
            switch self {
            case .frozen, .late, .dripping, .halfBody: [("note", "the answer came too late")]
            case .slow: [("note", "the answer came too late"), ("ok", "is used")]
            case .slowDown: [("note", "the store is overloaded")]
            case .cut: [("note", "the connection closed after")]
            case .killed, .closedPort: [("wrong", "nothing answers at")]
            case .refused: [("wrong", "the store does not know the key ID")]
            case .certificate: [("wrong", "--ca-file adds one")]
            case .unknownHost: [("wrong", "does not resolve")]
            case .notS3: [("wrong", "the address of a store that speaks S3?")]
            }
        }
    }

    private static let image = SampleImage.png(byteCount: 22_000)
    private static let count = 80

    private struct Finding: Decodable {
        let check, level, message: String
        let fix: String?
    }

    /// A machine with an origin, and a store that has all images of it.
    private struct Fixture {
        let origin: ScriptedOrigin
        let store: ScriptedOrigin
        let scope: TestScope

        /// A daemon has put the images there.
        init(in scope: TestScope) async throws {
            (origin, store) = (try ScriptedOrigin(in: scope), try ScriptedOrigin(in: scope))
            self.scope = scope
            let lasting: HeaderFields = ["Cache-Control": "max-age=1000"]
            origin.otherwise(.answer(headers: lasting, body: image))
            store.route("/images/v1/cached", .answer())
            for number in 0..<count {
                store.route(try path(number)) { request in
                    request.method == "PUT" ? .answer() : .storeError(404, "NoSuchKey")
                }
            }
            let writer = try await daemon(at: store.url(""))
            _ = try await times(writer)
            try await writer.writesToStore()
            try await writer.stop()
        }

        func url(_ number: Int) -> String { origin.url("/\(number).png") }

        func path(_ number: Int) throws -> String {
            let name = CacheKey(try CacheURL(url(number))).description
            return "/images/v1/\(name.prefix(2))/\(name)"
        }

        /// - Parameter endpoint: that of the store. `nil` for a daemon without one.
        func daemon(at endpoint: String?) async throws -> DaemonFixture {
            var environment: [String: String] = [:]
            if let endpoint {
                environment = [
                    "CACHED_STORE": "s3://images", "CACHED_STORE_ENDPOINT": endpoint,
                    "CACHED_STORE_CREDENTIALS": "none", "CACHED_STORE_PRIVATE": "yes",
                ]
            }
            return try await DaemonFixture.start(environment: environment, in: scope)
        }

        /// The times of the images, the shortest first. Four are fetched at once.
        func times(
            _ daemon: DaemonFixture, atHalf: () async throws -> Void = {}
        ) async throws -> [Duration] {
            var times: [Duration] = []
            for first in stride(from: 0, to: count, by: 4) {
                if first == count / 2 { try await atHalf() }
                times += try await withThrowingTaskGroup(of: Duration.self) { group in
                    for number in first..<first + 4 {
                        group.addTask {
                            let watch = Stopwatch()
                            let item = try await daemon.fetch(url(number))
                            #expect(item.state == .cached)
                            return watch.time
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            return times.sorted()
        }

        /// What the store answers from now on to a question for each image.
        func inject(_ fault: Fault, _ gate: Gate) throws {
            let half = Array(image.prefix(image.count / 2))
            for number in 0..<count {
                let path = try path(number)
                let put = try #require(store.requests(path).last { $0.method == "PUT" })
                let fields = HeaderFields(
                    put.headers.fields.filter { $0.name.lowercased().hasPrefix("x-amz-meta-") } + [
                        ("Date", date()), ("Last-Modified", date()), ("Content-Type", "image/png"),
                        ("Content-Length", "\(image.count)"),
                    ])
                let whole = OriginScript([.head(200, fields), .bytes(image)])
                let answer: OriginScript =
                    switch fault {
                    case .frozen: [.wait(gate)]
                    case .late:
                        [.trickle(Array("HTTP/1.1 404 Not Found\r\n".utf8), bytesPerSecond: 5)]
                    case .slowDown: .storeError(503, "SlowDown")
                    case .refused: .storeError(403, "InvalidAccessKeyId")
                    case .dripping: [.head(200, fields), .trickle(image, bytesPerSecond: 2_000)]
                    case .slow: [.head(200, fields), .trickle(image, bytesPerSecond: 50_000)]
                    case .halfBody: [.head(200, fields), .bytes(half), .wait(gate)]
                    case .cut: [.head(200, fields), .bytes(half), .close]
                    case .notS3: .answer(404, headers: ["Content-Type": "text/html"])
                    case .killed, .certificate, .unknownHost, .closedPort: whole
                    }
                store.route(path, answer)
            }
        }

        /// RFC 9110 §5.6.7. strftime(3)
        private func date() -> String {
            var (now, parts, text) = (time(nil), tm(), [CChar](repeating: 0, count: 64))
            gmtime_r(&now, &parts)
            let count = strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
            return String(decoding: text.prefix(count).map { UInt8($0) }, as: UTF8.self)
        }

        func endpoint(_ fault: Fault) async throws -> String {
            switch fault {
            case .certificate:
                let identity = try await CertificateAuthority(in: scope).issue()
                return
                    "https://127.0.0.1:\(try await TLSTerminator(identity, to: store, in: scope).port)"
            case .unknownHost: return "http://nowhere.invalid"
            case .closedPort: return "http://127.0.0.1:1"
            default: return store.url("")
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func imagesComeAtMostASecondLater(fault: Fault) async throws {
        try await withTestScope { scope in
            let fixture = try await Fixture(in: scope)
            let without = try await fixture.times(try await fixture.daemon(at: nil))
            let gate = try Gate()
            defer { gate.open() }
            try fixture.inject(fault, gate)
            let daemon = try await fixture.daemon(at: try await fixture.endpoint(fault))
            let times = try await fixture.times(daemon) {
                if fault == .killed { try await fixture.store.stop() }
            }
            let last = Self.count * 99 / 100
            #expect(times[last] <= without[last] + .seconds(1), "\(times[last])")
            let finding = try await self.finding(daemon)
            #expect(
                fault.finding.contains { level, words in
                    finding.level == level && finding.message.contains(words)
                }, "\(finding)")
            // The questions that still wait end with the gate.
            gate.open()
            guard isLongForm else { return }
            func milliseconds(_ time: Duration) -> Int { Int(time / .milliseconds(1)) }
            print(
                "|", fault.rawValue, "|", milliseconds(times[Self.count / 2]), "|",
                milliseconds(times[last]), "|", milliseconds(without[last]), "|", finding.level,
                "|", finding.message, "|")
        }
    }

    private func finding(_ daemon: DaemonFixture) async throws -> Finding {
        let output = try await daemon.cachectl("doctor", "--json")
        let findings = try output.lines.map {
            try JSONDecoder().decode(Finding.self, from: Data($0.utf8))
        }
        return try #require(findings.first { $0.check == "store" })
    }
}
