extension String {
    /// The width of the text in terminal columns. East Asian wide characters and emoji take two
    /// columns (Unicode Standard Annex 11). A combining character takes none.
    var columns: Int {
        utf8.allSatisfy { $0 < 0x80 } ? utf8.count : reduce(0) { $0 + $1.columns }
    }

    /// Shortens the text to `limit` columns by cutting its end. `mark` shows the cut.
    func prefix(columns limit: Int, mark: String) -> String {
        guard columns > limit else { return self }
        guard limit >= mark.columns else { return "" }
        return first(columns: limit - mark.columns) + mark
    }

    /// Shortens the text to `limit` columns by cutting its middle. `mark` shows the cut. A third of
    /// the columns show the start of the text, but at most `start` columns.
    func middle(columns limit: Int, mark: String, start: Int = .max) -> String {
        guard columns > limit else { return self }
        guard limit >= mark.columns else { return "" }
        let room = limit - mark.columns
        // The end of a URL says more than its start.
        let start = first(columns: min(start, room / 3))
        return start + mark + last(columns: room - start.columns)
    }

    /// The start of the text, at most `limit` columns wide.
    func first(columns limit: Int) -> String {
        var room = limit
        return String(
            prefix { character in
                room -= character.columns
                return room >= 0
            })
    }

    private func last(columns limit: Int) -> String {
        var room = limit
        let kept = reversed().prefix { character in
            room -= character.columns
            return room >= 0
        }
        return String(kept.reversed())
    }
}

extension Character {
    /// The width of the character in columns: 1 or 2.
    var columns: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        return switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F1E6...0x1F1FF, 0x1F300...0x1F64F,
            0x1F680...0x1FAFF,
            0x20000...0x3FFFD:
            2
        // The remaining emoji that are wide by default: U+231A, U+2B50 …
        default: scalar.properties.isEmojiPresentation ? 2 : 1
        }
    }
}
