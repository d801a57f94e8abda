import TestSupport
import Testing

@testable import CacheDisk
@testable import CacheFetching

@Suite("Linked set", .timeLimit(.minutes(5)))
struct LinkedSetTests {
    @Test(arguments: [UInt64](1...4), [3, 20])
    func keepsTheOrderAnArrayWouldHave(seed: UInt64, elements: Int) {
        var random = SeededGenerator(seed: seed)
        var line = LinkedSet<Int>()
        var model: [Int] = []
        for _ in 0..<5000 {
            let element = Int.random(in: 0..<elements, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                line.append(element)
                if !model.contains(element) { model.append(element) }
            case 2:
                #expect(line.remove(element) == model.contains(element))
                model.removeAll { $0 == element }
            case 3:
                line.prepend(element)
                if !model.contains(element) { model.insert(element, at: 0) }
            case 4:
                line.moveToEnd(element)
                if let place = model.firstIndex(of: element) {
                    model.append(model.remove(at: place))
                }
            default:
                if let first = line.first { line.remove(first) }
                model = Array(model.dropFirst())
            }
            #expect(line.first { $0 > element } == model.first { $0 > element })
            #expect(line.first == model.first && line.count == model.count)
            #expect(
                line.isEmpty == model.isEmpty && line.contains(element) == model.contains(element))
        }
        var rest: [Int] = []
        while let first = line.first {
            rest.append(first)
            line.remove(first)
        }
        #expect(rest == model)
    }
}
