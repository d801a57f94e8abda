import TestSupport
import Testing

@testable import CacheCore

@Suite("Shards")
struct ShardsTests {
    @Test(arguments: [UInt64](1...3))
    func areADictionary(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var shards = Shards<Int, String>()
        var model: [Int: String] = [:]
        for _ in 0..<20_000 {
            let key = Int.random(in: 0..<5000, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: #expect(shards.removeValue(forKey: key) == model.removeValue(forKey: key))
            case 1: (shards[key], model[key]) = (nil, nil)
            default:
                #expect(shards[key] == model[key])
                (shards[key], model[key]) = ("\(key)", "\(key)")
            }
        }
        #expect(shards.count == model.count && !shards.isEmpty)
        #expect(Dictionary(uniqueKeysWithValues: shards.map { ($0.key, $0.value) }) == model)
        #expect(shards.values.sorted() == model.values.sorted())
        for key in model.keys { shards[key]?.append("!") }
        #expect(model.allSatisfy { shards[$0.key] == $0.value + "!" })
        for key in model.keys { shards[key] = nil }
        #expect(shards.isEmpty && shards.count == 0)
    }
}
