import Foundation
import Testing

@testable import cachectl

/// The rules and the dashboard in `examples/fleet` against the metrics that there are.
@Suite struct FleetExampleTests {
    @Test(arguments: ["alerts.yml", "dashboard.json"])
    func everyMetricExists(file: String) throws {
        let path = URL(filePath: #filePath).appending(path: "../../../examples/fleet/\(file)")
        let text = try String(contentsOf: path.standardized, encoding: .utf8)
        let named = Set(text.matches(of: /cached_[a-z_]+/).map { String($0.0) })
        #expect(named.count >= 6)
        #expect(named.isSubset(of: Figure.all.map { "cached_\($0.metric)" }))
    }
}
