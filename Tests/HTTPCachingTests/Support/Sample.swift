import CacheValues
import ImageFormats

@testable import HTTPCaching

/// Values that tests need and whose content does not matter.
enum Sample {
    /// 2026-09-21 14:13:20 UTC.
    static let now = UnixTime(rawValue: 1_790_000_000)

    /// A response that took no time.
    static let atOnce = RequestTimes(sent: now, received: now)

    /// The value of a date field, `seconds` after ``now``.
    static func date(_ seconds: Int64) -> String { HTTPDate.format(now + seconds) }

    static let report = ImageReport(
        mediaType: .png, width: 64, height: 48, orientation: .upright, completeness: .whole,
        hasTrailingBytes: false)

    static func record(size: Int64, isPinned: Bool = false) -> EntryRecord {
        EntryRecord(
            size: size, mediaType: .png, width: 64, height: 48,
            fetchedAt: UnixTime(rawValue: 1_790_000_000),
            freshUntil: UnixTime(rawValue: 1_790_003_600),
            validators: Validators(
                entityTag: "\"x1\"", lastModified: UnixTime(rawValue: 1_780_000_000)),
            isPinned: isPinned)
    }

    /// The rules of a cache for several users.
    static let sharedRules: CachingRules = {
        var rules = CachingRules()
        rules.isShared = true
        return rules
    }()
}
