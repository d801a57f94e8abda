import TestSupport

extension [UInt8] {
    /// Changes, inserts or removes one byte of a message. The new byte has a meaning in JSON.
    mutating func spoil(using random: inout SeededGenerator) {
        let place = Int.random(in: indices, using: &random)
        let byte = Self.telling.randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<3, using: &random) {
        case 0: self[place] = byte
        case 1: insert(byte, at: place)
        default: remove(at: place)
        }
    }

    private static let telling =
        Array("0123456789.eE-+ \t\n\"{}[]:,\\/aurlstx".utf8) + [0x7F, 0xC3, 0]
}
