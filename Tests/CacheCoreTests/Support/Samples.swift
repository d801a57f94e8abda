import CacheKey

@testable import CacheCore
@testable import CacheModel

/// Default values for tests that do not depend on them.
enum Sample {
    /// 2026-09-21 14:13:20 UTC.
    static let now = UnixTime(rawValue: 1_790_000_000)

    /// The value of a date field, `seconds` after ``now``.
    static func date(_ seconds: Int64) -> String { HTTPDate.format(now + seconds) }

    static let moment = Moment(time: now, instant: .now)

    static func url(_ name: String) -> CacheURL {
        do {
            return try CacheURL("http://images.test/\(name)")
        } catch {
            preconditionFailure("\(name) makes no URL: \(error)")
        }
    }

    static func key(_ name: String) -> CacheKey { CacheKey(url(name)) }

    /// Five bytes that no other name has.
    static func bytes(_ name: String) -> [UInt8] {
        withUnsafeBytes(of: key(name).low.littleEndian) { Array($0.prefix(5)) }
    }

    static func facts(
        size: Int64 = 1000, allocated: Int64 = 4096, fetchedAt: UInt32 = 1_790_000_000,
        lastUsedAt: UInt32 = 1_790_000_000, isPinned: Bool = false
    ) -> EntryFacts {
        EntryFacts(
            size: size, allocated: allocated, mediaType: .png, width: 64, height: 48,
            fetchedAt: UnixTime(rawValue: fetchedAt), freshUntil: nil,
            lastUsedAt: FileTime(UnixTime(rawValue: lastUsedAt)), isPinned: isPinned)
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

    static let digest = ContentDigest(SIMD32(repeating: 0xAB))

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
