import CacheValues
import Glibc
import Testing

@testable import HTTPCaching

/// Heads made of the worst that a field allows cost little more than others of the same length.
@Suite("Cost of a head", .serialized)
struct HeadCostTests {
    /// The beginning of a head, and the part that is repeated behind it.
    private static let hostile: [(name: String, start: String, part: String)] = [
        ("combining marks", "Cache-Control: a", "\u{301}"),
        ("combining marks in quotes", "Cache-Control: a=\"", "\u{301}"),
        ("folded lines", "Cache-Control: a", "\r\n b"), ("empty folds", "ETag: a", "\r\n "),
        ("directives", "Cache-Control: a", ",a"), ("quotes", "Cache-Control: a", " \"\""),
        ("escapes", "Cache-Control: a=\"", "\\\\"), ("pragmas", "Pragma: a", "\r\nPragma: a"),
        ("codings", "Content-Encoding: a", ",a"),
        ("transfer codings", "Transfer-Encoding: a", ",a"),
        ("lengths", "Content-Length: 1", ",1"), ("varied fields", "Vary: a", ",a"),
        ("bytes of a location", "Location: /", "\u{FF}"), ("a date", "Date: 1", "-"),
        ("a range", "Content-Range: bytes 1", "-/"), ("an age", "Age: 1", " \u{301}"),
    ]

    private static let length = 64_000

    @Test func noHeadCostsMoreThanAFewSteps() {
        let usual = cost(of: "Cache-Control: max-age=60", "\r\nCache-Control: max-age=60, public")
        for (name, start, part) in Self.hostile {
            let times = cost(of: start, part) / usual
            #expect(times < 12, "\(name) costs \(times) times as much as usual lines")
        }
    }

    /// The processor time of this thread: the least of three runs.
    private func cost(of start: String, _ part: String) -> Double {
        let text = start + String(repeating: part, count: Self.length / part.utf8.count)
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
            .map { Array($0.filter { $0 != UInt8(ascii: "\r") }) + Array("\r\n".utf8) }
        let times = (0..<3).map { _ in
            let start = Self.processorTime
            var head = ResponseHead("HTTP/1.1 200 OK")
            for line in lines + [Array("\r\n".utf8)] {
                line.withUnsafeBytes { _ = head.take($0) }
            }
            head.takePending()
            _ = (head.dates(now: Sample.now), head.age, head.isWholeImage, head.storableEntityTag)
            return Self.processorTime - start
        }
        return Double(times.min() ?? 0)
    }

    /// Nanoseconds. clock_gettime(2)
    private static var processorTime: Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
