import CacheWire

extension [UInt8] {
    /// A line of JSON with the characters escaped that ``Swift/String/printable`` escapes, in the way of JSON
    /// (RFC 8259 §7). Outside of strings JSON has only ASCII.
    var printableJSON: [UInt8] {
        guard contains(where: { $0 >= 0x7F }) else { return self }
        var result: [UInt8] = []
        result.reserveCapacity(count)
        for scalar in String(decoding: self, as: UTF8.self).unicodeScalars {
            let text = scalar.commandsTerminal ? scalar.jsonEscape : String(scalar)
            result += text.utf8
        }
        return result
    }
}
