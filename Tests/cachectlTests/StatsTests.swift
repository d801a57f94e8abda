import CacheWire
import Foundation
import StubDaemon
import Testing

@testable import cachectl

@Suite(.timeLimit(.minutes(5))) struct StatsTests {
    /// A daemon that has worked for a while.
    private static let busy: [String: JSONValue] = [
        "version": "0.1.0", "curlVersion": "libcurl/7.88.1 OpenSSL/3.0.19 zlib/1.2.13",
        "build": "release", "startedAt": 1_795_200_000, "processorSeconds": 1.5,
        "residentBytes": 9_000_000, "anonymousBytes": 4_000_000, "connections": 3, "calls": 200,
        "directory": "/var/cache/cached", "socket": "/run/cached/cached.sock",
        "uptimeSeconds": 7200, "watchers": 2, "changesEncoded": 80, "entries": 5210,
        "partials": 3, "bytesUsed": 1_200_000_000, "bytesBudget": 10_000_000_000,
        "bytesMinFree": 1_000_000_000, "bytesAllowed": 8_000_000_000, "bytesReserved": 0,
        "entriesPinned": 12, "bytesPinned": 1_200_000, "isIndexed": true,
        "isDirectoryInPlace": true, "isDirectoryWritable": true, "pressureLevel": "warning",
        "pressureSource": "/proc/pressure/memory", "pressureReactions": 2,
        "pressureLastAt": 1_795_236_516, "pressureLastLevel": "warning",
        "pressureLastSource": "/proc/pressure/memory", "pressureLastReason": "memory is short",
        "pressureLastEntries": 40, "pressureLastBytes": 9_000_000,
        "pressureLastMilliseconds": 250, "pressureLastDroppedEntries": 0,
        "pressureLastDroppedBytes": 0, "pressureLastAvailable": 0, "pressureLastMachine": 0,
        "pressureLastGroupUsed": 0, "pressureLastGroupLimit": 0, "transfersRunning": 2,
        "transfersQueued": 4, "bytesReceived": 1_400_000_000, "hits": 12_345, "misses": 345,
        "joined": 20, "published": 300, "revalidated": 42, "staleAnswers": 1, "retried": 10,
        "failed": 3, "failuresRepeated": 2, "refused": 0, "evicted": 100,
        "bytesEvicted": 48_000_000, "removed": 5, "withdrawn": 1, "damaged": 0,
        "pagesDroppedEntries": 0, "pagesDroppedBytes": 0, "userAgent": "cached/0.1.0",
        "hasContact": false, "trustFile": "/etc/ssl/certs/ca-certificates.crt",
    ]

    private static let now = 1_795_236_516 + 7200

    @Test func theThreeFiguresThatMatterComeFirst() {
        let lines = StatsReport(Self.busy, now: Self.now).lines(columns: nil)
        #expect(
            lines.prefix(3).map { $0.replacing(#/ {3,}/#, with: "|") } == [
                "Hit ratio|97.3 % of 12,690 requests", "Space held|15.0 % of 8.0 GB, 5,210 images",
                "Downloads|342 done, 3 failed (0.9 %)",
            ])
        for part in [
            "8.0 GB, not 10 GB: the file system is nearly full", "12 (0.2 %), 1.2 MB",
            "12,345 (97.3 %)", "2, 4", "2 h ago, warning, evicted 40 images", "100, 48 MB",
        ] {
            #expect(lines.contains { $0.hasSuffix("  " + part) }, "\(part)")
        }
    }

    @Test func theReportFitsOnTwoScreens() {
        var long = Self.busy
        long["directory"] = .string("/" + String(repeating: "directory/", count: 30))
        long["curlVersion"] = .string(String(repeating: "library/1.2.3 ", count: 30))
        let lines = StatsReport(long, now: Self.now).lines(columns: 80)
        #expect(lines.count <= 48)
        #expect(lines.allSatisfy { $0.columns <= 80 })
    }

    @Test func missingFiguresLeaveTheirRowsOut() {
        let lines = StatsReport(["entries": 3], now: Self.now).lines(columns: nil)
        #expect(lines.count == 3)
        #expect(lines[0].hasSuffix("- of 0 requests") && lines[1].hasSuffix("- of 0 B, 3 images"))
        let moved: [String: JSONValue] = ["directory": "/c", "isDirectoryInPlace": false]
        #expect(
            StatsReport(moved, now: 0).lines(columns: nil).contains {
                $0.hasSuffix("/c was moved away")
            })
    }

    @Test func hostileFiguresAreEscaped() throws {
        let stub = try StubDaemon(replies: [
            #"{"parameters":{"stats":{"directory":"/\u001b[31m\u202e","version":"1\u009b\"\\"}}}"#
        ])
        for arguments in [[], ["--json"], ["--prometheus"]] {
            let outcome = try Program.run(["stats", "--socket", stub.path] + arguments)
            #expect(outcome.status == 0)
            #expect(
                !outcome.output.unicodeScalars.contains { $0.commandsTerminal && $0 != "\n" },
                "\(arguments)")
        }
    }

    @Test func jsonIsTheFlatObjectOfTheDaemon() throws {
        let stub = try StubDaemon(replies: [
            #"{"parameters":{"stats":{"entries":3,"directory":"/c","ratio":0.5}}}"#
        ])
        let object = try Program.run(["stats", "--json", "--socket", stub.path])
        #expect(object.lines.count == 1 && object.output.contains(#""entries":3"#))
        let both = try Program.run(["stats", "--json", "--prometheus", "--socket", stub.path])
        #expect(both.status == 64)
    }

    @Test func metricsFollowTheRules() throws {
        let text = PrometheusText(Self.reply).lines.map { $0 + "\n" }.joined()
        let rules = PrometheusRules(text)
        #expect(rules.problems == [])
        for (name, value) in [
            ("cached_hits_total", 12_345), ("cached_used_bytes", 1_200_000_000),
            ("cached_directory_indexed", 1), ("cached_contact", 0), ("cached_pressure_level", 1),
            ("cached_pressure_last_duration_seconds", 0.25),
            ("cached_processor_seconds_total", 1.5),
        ] {
            #expect(rules.samples[name] == value, "\(name)")
        }
        #expect(text.contains(#"cached_build_info{version="0.1.0",curl="libcurl/"#))
        // Text cannot be a metric, and a URL must never be a label.
        #expect(!text.contains("/var/cache") && !text.contains("/run/cached"))
    }

    private static var reply: Methods.Stats.Reply {
        .init(
            stats: busy,
            histograms: [
                "firstByteSeconds": Histogram(bounds: [0.01, 0.5], counts: [3, 4, 5], sum: 9.25),
                "imageBytes": Histogram(bounds: [1024, 1_048_576], counts: [0, 0, 0], sum: 0),
            ],
            failures: ["http": 2, "timeout": 1])
    }

    @Test func histogramsAreCumulative() {
        let lines = PrometheusText(Self.reply).lines
        let first = lines.firstIndex(of: "# TYPE cached_first_byte_seconds histogram") ?? 0
        #expect(
            lines[first...].dropFirst().prefix(5) == [
                #"cached_first_byte_seconds_bucket{le="0.01"} 3"#,
                #"cached_first_byte_seconds_bucket{le="0.5"} 7"#,
                #"cached_first_byte_seconds_bucket{le="+Inf"} 12"#,
                "cached_first_byte_seconds_sum 9.25", "cached_first_byte_seconds_count 12",
            ])
        #expect(lines.contains(#"cached_failed_downloads_by_kind_total{kind="timeout"} 1"#))
    }

    /// The rules are only worth something if they refuse what is wrong.
    @Test(arguments: [
        "cached_a 1\n", "# HELP cached_a x\n# TYPE cached_a gauge\ncached_a 1",
        "# TYPE cached_a gauge\ncached_a 1\n",
        "# HELP cached_a x\n# TYPE cached_a counter\ncached_a 1\n",
        "# HELP cached_a_total x\n# TYPE cached_a_total gauge\ncached_a_total 1\n",
        "# HELP cached_a x\n# TYPE cached_a gauge\ncached_a one\n",
        "# HELP cached_a x\n# TYPE cached_a gauge\ncached_b 1\n",
        "# HELP cached_a_ms x\n# TYPE cached_a_ms gauge\ncached_a_ms 1\n",
        "# HELP cached_a x\n# TYPE cached_a gauge\ncached_a{b=\"\\x\"} 1\n",
        "# HELP cached_a x\n# TYPE cached_a histogram\ncached_a_bucket{le=\"1\"} 1\n",
    ])
    func wrongTextIsRefused(text: String) {
        #expect(PrometheusRules(text).problems != [])
    }

    @Test(.enabled(if: Promtool.isInstalled, "promtool is not installed"))
    func promtoolAcceptsTheMetrics() throws {
        let text = PrometheusText(Self.reply).lines.map { $0 + "\n" }.joined()
        let outcome = try Promtool.run(["check", "metrics"], input: text)
        #expect(outcome.status == 0 && outcome.output == "", "\(outcome.output)")
        let wrong = "cached_a_total{b=\"1\"} one\n"
        #expect(try Promtool.run(["check", "metrics"], input: wrong).status != 0)
    }
}
