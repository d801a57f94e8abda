extension [UInt8] {
    /// A line of JSON with the characters escaped that ``Swift/String/printable`` escapes, in the way of JSON
    /// (RFC 8259 §7). Outside of strings JSON has only ASCII.
    var printableJSON: [UInt8] {
        guard contains(where: { $0 >= 0x7F }) else { return self }
        var result: [UInt8] = []
        result.reserveCapacity(count)
        for scalar in String(decoding: self, as: UTF8.self).unicodeScalars {
            if scalar.commandsTerminal {
                // A character beyond the first 65,536 is a pair of surrogates.
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    result += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
                }
            } else {
                result += String(scalar).utf8
            }
        }
        return result
    }
}
