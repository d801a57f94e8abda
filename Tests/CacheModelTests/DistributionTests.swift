import CacheFetching
import CacheValues
import Testing

@Suite struct DistributionTests {
    @Test func aRangeIncludesItsUpperBound() {
        var sizes = Distribution.sizes
        let values: [Double] = [0, 1024, 1025, 4096, 67_108_864]
        for value in values { sizes.add(value) }
        #expect(sizes.bounds.first == 1024)
        #expect(sizes.bounds.last == 67_108_864)
        for (lower, upper) in zip(sizes.bounds, sizes.bounds.dropFirst()) {
            #expect(upper == lower * 4)
        }
        #expect(sizes.counts == [2, 2, 0, 0, 0, 0, 0, 0, 1, 0])
        #expect(sizes.sum == 67_115_009)
    }

    @Test func valuesAboveAllBoundsAreCountedApart() {
        var times = Distribution.times
        times.add(.milliseconds(1))
        times.add(.seconds(101))
        #expect(times.counts.first == 1)
        #expect(times.counts.last == 1)
        #expect(times.counts.count == times.bounds.count + 1)
        #expect(times.bounds == times.bounds.sorted())
        #expect(times.sum == 101.001)
    }
}
