import Foundation
import Testing

@testable import CacheWire
@testable import cachectl

/// The table of docs/lookup/stats.md against the labels of `cachectl stats` and the names of metrics.
@Suite struct DocumentedFiguresTests {
    /// The cells of the rows that begin with a member.
    private static func rows() throws -> [[String]] {
        let file = URL(filePath: #filePath).appending(path: "../../../docs/lookup/stats.md")
        return try String(contentsOf: file.standardized, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("| `") }
            .map { line in
                line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            }
            .filter { $0.count == 4 }
    }

    @Test func everyMetricStandsBesideItsMember() throws {
        let rows = try Self.rows()
        #expect(rows.count > 50)
        for figure in Figure.all {
            let row = rows.first { $0[0].contains("`\(figure.key)`") }
            #expect(row?[2].contains("`\(figure.metric)`") == true, "\(figure.key)")
        }
    }

    @Test func everyLabelStandsBesideAMember() throws {
        let labels = Set(try Self.rows().flatMap { $0[3].split(separator: "; ").map(String.init) })
        var stats: [String: JSONValue] = [:]
        for row in try Self.rows() {
            for member in row[0].matches(of: /`(\w+)`/) { stats[String(member.1)] = .int(1) }
        }
        for text in Figure.texts { stats[text] = .string("text") }
        for flag in ["isIndexed", "isDirectoryInPlace", "isDirectoryWritable"] {
            stats[flag] = true
        }
        let printed = StatsReport(stats, now: 2).groups.flatMap(\.rows).map {
            $0[0].trimmingCharacters(in: .whitespaces)
        }
        #expect(printed.count > 40)
        for label in printed { #expect(labels.contains(label), "\(label)") }
    }
}
