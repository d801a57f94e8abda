extension String {
    /// The text with everything a terminal would obey made visible, as in `\u{1B}`: the controls of
    /// ASCII and of ISO 8859 (C0, DEL, C1) and the marks that turn the direction of writing.
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
        case 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
