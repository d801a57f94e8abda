import ImageFormats
import ImageSamples
import TestSupport
import Testing

/// Random damage never traps the inspector, and its report never depends on the size of the chunks.
@Suite("Images, damaged input", .timeLimit(.minutes(isLongForm ? 30 : 10)))
struct DamagedImageTests {
    private static let count = isLongForm ? 50_000 : 150

    @Test(arguments: ImageSample.all)
    func reportTheSameForEveryChunking(_ sample: ImageSample) {
        var random = SeededGenerator(seed: testSeed)
        for number in 0..<Self.count {
            var bytes = sample.bytes
            while !random.oneIn(3) { random.damage(&bytes) }
            let whole = inspect(bytes)
            let feeding = Feeding.random(seed: testSeed &+ UInt64(number))
            #expect(inspect(bytes, feeding) == whole, "seed \(testSeed): \(bytes)")
        }
    }
}
