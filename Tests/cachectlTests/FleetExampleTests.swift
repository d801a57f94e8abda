import Foundation
import Testing

@testable import cachectl

/// The rules and the dashboard in `examples/fleet` against the metrics that there are, and against Prometheus itself.
@Suite struct FleetExampleTests {
    private struct Dashboard: Decodable {
        struct Panel: Decodable {
            struct Target: Decodable { let expr: String }
            let title: String
            let targets: [Target]
        }
        let panels: [Panel]
    }

    private static func path(_ file: String) -> String {
        URL(filePath: #filePath).appending(path: "../../../examples/fleet/\(file)")
            .standardized.path(percentEncoded: false)
    }

    private static func text(_ file: String) throws -> String {
        try String(contentsOfFile: path(file), encoding: .utf8)
    }

    @Test(arguments: ["alerts.yml", "dashboard.json"])
    func everyMetricExists(file: String) throws {
        let named = Set(try Self.text(file).matches(of: /cached_[a-z_]+/).map { String($0.0) })
        #expect(named.count >= 6)
        #expect(named.isSubset(of: Figure.all.map { "cached_\($0.metric)" }))
    }

    /// Runs `promtool` on a file with this text, which is JSON and so YAML too.
    private func promtool(_ command: [String], _ document: [String: Any]) throws
        -> (status: Int32, output: String)
    {
        let folder = try TemporaryFolder()
        let file = folder.path + "/rules.yml"
        try JSONSerialization.data(withJSONObject: document, options: .withoutEscapingSlashes)
            .write(to: URL(filePath: file))
        return try Promtool.run(command + [file])
    }

    @Test(.enabled(if: Promtool.isInstalled, "promtool is not installed"))
    func prometheusReadsEveryQueryOfTheDashboard() throws {
        let dashboard = try JSONDecoder().decode(
            Dashboard.self, from: Data(Self.text("dashboard.json").utf8))
        let queries = dashboard.panels.flatMap(\.targets).map(\.expr)
        #expect(queries.count >= 20)
        let rules = queries.enumerated().map { number, query in
            [
                "record": "query:\(number)",
                "expr": query.replacing("$__rate_interval", with: "5m"),
            ]
        }
        let outcome = try promtool(
            ["check", "rules"], ["groups": [["name": "dashboard", "rules": rules]]])
        #expect(outcome.status == 0, "\(outcome.output)")
    }

    /// A machine each for which one alert fires after an hour, and one for which none does.
    @Test(.enabled(if: Promtool.isInstalled, "promtool is not installed"))
    func eachAlertFiresForItsFaultAlone() throws {
        let faults = [
            "CachedStoreRefused": ["write_state": "2+0x60"],
            "CachedStoreLate": ["state": "1+0x60"],
            "CachedStoreNoHits": ["lookups_total": "0+100x60", "hits_total": "0+0x60"],
            "CachedStoreBadObjects": ["lookups_total": "0+10x60", "bad_total": "0+1x60"],
            "CachedStoreQueueGrows": ["queued": "0+900x60"],
            "CachedStoreGivesUp": ["dropped_total": "0+10x60"],
            "": [
                "state": "0+0x60", "write_state": "0+0x60", "lookups_total": "0+100x60",
                "hits_total": "0+50x60", "bad_total": "0+0x60", "queued": "9+0x60",
                "dropped_total": "0+0x60",
            ],
        ]
        let named = try Self.text("alerts.yml").matches(of: /alert: (\w+)/).map { String($0.1) }
        #expect(Set(named) == Set(faults.keys.filter { !$0.isEmpty }))
        let series = faults.flatMap { alert, figures in
            figures.map { name, values in
                ["series": "cached_store_\(name){instance=\"\(alert)\"}", "values": values]
            }
        }
        let fired = named.map { name in
            ["labels": "{alertname=\"\(name)\", instance=\"\(name)\"}", "value": 1] as [String: Any]
        }
        let expectation: [String: Any] = [
            "expr": "count by (alertname, instance) (ALERTS{alertstate=\"firing\"})",
            "eval_time": "1h", "exp_samples": fired,
        ]
        let outcome = try promtool(
            ["test", "rules"],
            [
                "rule_files": [Self.path("alerts.yml")], "evaluation_interval": "1m",
                "tests": [
                    ["interval": "1m", "input_series": series, "promql_expr_test": [expectation]]
                ],
            ])
        #expect(outcome.status == 0, "\(outcome.output)")
    }
}
