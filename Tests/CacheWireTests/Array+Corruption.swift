import TestSupport

extension [UInt8] {
    /// Changes, inserts or removes one byte of a message. The new byte has a meaning in JSON.
    mutating func corruptOneByte(using random: inout SeededGenerator) {
        let index = Int.random(in: indices, using: &random)
        let byte = Self.significantBytes.randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<3, using: &random) {
        case 0: self[index] = byte
        case 1: insert(byte, at: index)
        default: remove(at: index)
        }
    }

    private static let significantBytes =
        Array("0123456789.eE-+ \t\n\"{}[]:,\\/aurlstx".utf8) + [0x7F, 0xC3, 0]
}
