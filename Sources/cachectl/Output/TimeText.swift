import Glibc

/// Formats times for people.
enum TimeText {
    /// The duration in its largest unit: `12 s`, `5 min`, `3 h`, `2 d`.
    static func describe(seconds: Int) -> String {
        switch seconds {
        case ..<60: "\(max(0, seconds)) s"
        case ..<3600: "\(seconds / 60) min"
        case ..<86400: "\(seconds / 3600) h"
        default: "\(seconds / 86400) d"
        }
    }

    /// The duration between two Unix seconds.
    static func describe(from second: Int, to now: Int) -> String {
        let (seconds, isTooFar) = now.subtractingReportingOverflow(second)
        return describe(seconds: isTooFar ? .max : seconds)
    }

    /// A Unix second in UTC, for example `2026-11-21T04:48:36Z`. gmtime_r(3), RFC 3339.
    static func describe(unixSecond: Int) -> String {
        var second = time_t(unixSecond)
        var parts = tm()
        guard gmtime_r(&second, &parts) != nil else { return "\(unixSecond)" }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            let count = strftime(buffer.baseAddress!, buffer.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
            return count > 0 ? String(cString: buffer.baseAddress!) : "\(unixSecond)"
        }
    }

    /// The current Unix second. time(2).
    static func now() -> Int { time(nil) }
}
