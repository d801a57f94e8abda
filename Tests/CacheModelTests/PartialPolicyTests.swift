import CacheFetching
import CacheValues
import Testing

@Suite("Partial downloads without callers")
struct PartialPolicyTests {
    @Test(arguments: [
        (1_000_000, 983_617, true), (1_000_000, 900_000, false), (10_000, 0, true),
        (10_000_000, 9_500_000, true), (10_000_000, 9_499_999, false), (20_000, 3_616, false),
        (20_000, 3_617, true), (100, 100, true), (100, 101, false), (.max, 1, false),
        (.max, .max - 1, true),
    ])
    func finishesDownloadsWithLittleLeft(total: Int64, received: Int64, finishes: Bool) {
        #expect(PartialPolicy.isWorthFinishing(received: received, total: total) == finishes)
    }

    @Test func doesNotFinishDownloadsOfUnknownLength() {
        #expect(!PartialPolicy.isWorthFinishing(received: 1_000_000, total: nil))
    }
}
