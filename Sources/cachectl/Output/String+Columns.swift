extension String {
    /// How many columns of a terminal the text takes. East Asian wide characters and emoji take
    /// two (Unicode Standard Annex 11), what combines with the character before takes none.
    var columns: Int {
        utf8.allSatisfy { $0 < 0x80 } ? utf8.count : reduce(0) { $0 + $1.columns }
    }

    /// The end of the text in at most so many columns, marked where its start was cut off.
    func suffix(columns limit: Int, mark: String) -> String {
        guard columns > limit else { return self }
        guard limit >= mark.columns else { return "" }
        var room = limit - mark.columns
        var kept: [Character] = []
        for character in reversed() {
            guard character.columns <= room else { break }
            room -= character.columns
            kept.append(character)
        }
        return mark + String(kept.reversed())
    }
}

extension Character {
    fileprivate var columns: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        return switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1FAFF,
            0x20000...0x3FFFD:
            2
        default: 1
        }
    }
}
