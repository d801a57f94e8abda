package import CacheKey
package import CacheValues
import ImageFormats

/// Default values for tests that do not depend on them.
package enum Sample {
    /// 2026-09-21 14:13:20 UTC.
    package static let now = UnixTime(rawValue: 1_790_000_000)

    package static let moment = Moment(time: now, instant: .now)

    package static func url(_ name: String) -> CacheURL {
        do {
            return try CacheURL("http://images.test/\(name)")
        } catch {
            preconditionFailure("\(name) makes no URL: \(error)")
        }
    }

    package static func key(_ name: String) -> CacheKey { CacheKey(url(name)) }

    package static func facts(
        size: Int64 = 1000, allocated: Int64 = 4096, fetchedAt: UInt32 = 1_790_000_000,
        lastUsedAt: UInt32 = 1_790_000_000, isPinned: Bool = false
    ) -> EntryFacts {
        EntryFacts(
            size: size, allocated: allocated, mediaType: .png, width: 64, height: 48,
            fetchedAt: UnixTime(rawValue: fetchedAt), freshUntil: nil,
            lastUsedAt: FileTime(UnixTime(rawValue: lastUsedAt)), isPinned: isPinned)
    }

    package static let digest = ContentDigest(SIMD32(repeating: 0xAB))
}
