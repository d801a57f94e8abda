extension String {
    /// The text with everything a terminal would obey made visible, as in `\u{1B}`: the controls of
    /// ASCII and of ISO 8859 (C0, DEL, C1), the marks that turn the direction of writing, and what is not
    /// shown at all (UAX #44, Default_Ignorable_Code_Point).
    var printable: String {
        guard unicodeScalars.contains(where: \.commandsTerminal) else { return self }
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
}

extension Unicode.Scalar {
    fileprivate var commandsTerminal: Bool {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F: true
        case 0x2028, 0x2029: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}
