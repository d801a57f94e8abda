import CacheFetching
import CacheKey
import CacheSamples
import CacheValues
import HTTPCaching
import ImageFormats

@testable import CacheCore

extension Sample {
    /// The value of a date field, `seconds` after ``now``.
    static func date(_ seconds: Int64) -> String { HTTPDate.format(now + seconds) }

    /// Five bytes that no other name has.
    static func bytes(_ name: String) -> [UInt8] {
        withUnsafeBytes(of: key(name).low.littleEndian) { Array($0.prefix(5)) }
    }

    static func record(size: Int64, isPinned: Bool = false) -> EntryRecord {
        EntryRecord(
            size: size, mediaType: .png, width: 64, height: 48,
            fetchedAt: UnixTime(rawValue: 1_790_000_000),
            freshUntil: UnixTime(rawValue: 1_790_003_600),
            validators: Validators(
                entityTag: "\"x1\"", lastModified: UnixTime(rawValue: 1_780_000_000)),
            isPinned: isPinned)
    }

    /// A staged image without bytes, for tests that never publish it.
    static func staged(_ name: String, _ flight: FlightID, size: Int64 = 1000) -> StagedImage {
        staged(url(name), flight, size: size)
    }

    static func staged(_ url: CacheURL, _ flight: FlightID, size: Int64 = 1000) -> StagedImage {
        StagedImage(
            flight: flight, key: CacheKey(url), body: .bytes([]), url: url,
            record: record(size: size))
    }
}
