extension String {
    /// The text with terminal controls replaced by visible escapes such as `\u{1B}`.
    ///
    /// Escaped are the control characters of ASCII and ISO 8859 (C0, DEL, C1), the marks that
    /// change the direction of writing, and invisible characters (UAX #44,
    /// Default_Ignorable_Code_Point).
    package var printable: String {
        guard !isPlain, unicodeScalars.contains(where: \.commandsTerminal) else { return self }
        var result = ""
        for scalar in unicodeScalars {
            if scalar.commandsTerminal {
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Whether all characters are printable ones of ASCII.
    private var isPlain: Bool { utf8.allSatisfy { (0x20..<0x7F).contains($0) } }

    /// The text as a string of JSON, in quotation marks. All that ``printable`` escapes is written as
    /// an escape of JSON (RFC 8259 §7), so that a terminal can show it too.
    package var printableJSON: String {
        var result = "\""
        for scalar in unicodeScalars {
            if scalar == "\"" || scalar == "\\" {
                result += "\\"
                result.unicodeScalars.append(scalar)
            } else if scalar.commandsTerminal {
                result += scalar.jsonEscape
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension Unicode.Scalar {
    /// Whether a terminal could take the character for more than a visible character.
    package var commandsTerminal: Bool {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F: true
        case 0x2028, 0x2029: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }

    /// The character as an escape of JSON. One beyond the first 65,536 is a pair of surrogates.
    package var jsonEscape: String {
        String(self).utf16.reduce(into: "") { escape, unit in
            let digits = String(unit, radix: 16)
            escape += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
}
