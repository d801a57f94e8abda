import CacheFetching
import CacheValues
import Testing

@Suite("Unix time")
struct UnixTimeTests {
    @Test func clampsTimesThatDoNotFit() {
        #expect(UnixTime(clamping: -1) == UnixTime(rawValue: 0))
        #expect(UnixTime(clamping: 1 << 33) == UnixTime(rawValue: .max))
        let now = UnixTime(rawValue: 1_790_000_000)
        #expect(now + Int64.min == UnixTime(rawValue: 0))
        #expect(now + 5 - now == 5)
        #expect(UnixTime(rawValue: 0) - UnixTime(rawValue: .max) == -4_294_967_295)
    }
}
