package import ImageFormats
import TestSupport

/// How a file is divided into the chunks that an inspector receives.
package enum Feeding: Sendable {
    case whole
    case byteByByte
    case random(seed: UInt64)

    package static let all: [Feeding] = [.whole, .byteByByte] + (1...5).map { .random(seed: $0) }

    fileprivate func chunkLength(_ generator: inout SeededGenerator, of left: Int) -> Int {
        switch self {
        case .whole: left
        case .byteByByte: 1
        case .random: Int.random(in: 0...max(1, left / 2), using: &generator)
        }
    }

    fileprivate var seed: UInt64 {
        if case .random(let seed) = self { seed } else { 0 }
    }
}

/// Feeds `bytes` to an inspector and returns what it reports.
package func inspect(_ bytes: some Sequence<UInt8>, _ feeding: Feeding = .whole) -> ImageReport {
    var inspector = ImageInspector()
    var generator = SeededGenerator(seed: feeding.seed)
    var rest = Bytes(bytes)[...]
    while !rest.isEmpty {
        let chunk = rest.prefix(feeding.chunkLength(&generator, of: rest.count))
        chunk.withUnsafeBytes { inspector.consume($0) }
        rest = rest.dropFirst(chunk.count)
    }
    return inspector.finish()
}
