/// The signs of the states and the keys. On a wide screen they stand beside each other.
struct HelpView {
    let screen: TopScreen

    private static let legendWidth = 60
    private static let keysWidth = 60
    private static let nameWidth = 13

    /// - Parameter count: the lines for which there is room.
    func lines(count: Int) -> [StyledLine] {
        let keys = TopKeys.lines
        if screen.columns >= Self.legendWidth + Self.keysWidth {
            return (0..<max(legend.count, keys.count)).map { index in
                var line = index < legend.count ? legend[index] : StyledLine()
                line.pad(to: Self.legendWidth)
                if index < keys.count { line.append(keys[index]) }
                return line
            }
        }
        let hasRoom = legend.count + 1 + keys.count <= count
        return (hasRoom ? legend : names) + [StyledLine()] + keys
    }

    private var legend: [StyledLine] {
        ImageState.allCases.map { state in
            var line = sign(state)
            line.pad(to: Self.nameWidth)
            line.append(state.meaning)
            return line
        }
    }

    /// The signs with their names alone, as many in a line as fit.
    private var names: [StyledLine] {
        let signs = ImageState.allCases.map(sign)
        let perLine = max(1, screen.columns / Self.nameWidth)
        return stride(from: 0, to: signs.count, by: perLine).map { start in
            signs[start..<min(signs.count, start + perLine)].reduce(into: StyledLine()) {
                $0.append($1)
                $0.pad(to: ($0.columns / Self.nameWidth + 1) * Self.nameWidth)
            }
        }
    }

    private func sign(_ state: ImageState) -> StyledLine {
        var line = Sign(terminal: screen.terminal)
            .line(state, fraction: 0.5, now: screen.time.elapsed)
        line.append(" ")
        line.append(Self.name(state), .strong)
        return line
    }

    /// Short enough for its column.
    private static func name(_ state: ImageState) -> String {
        switch state {
        case .unmeasured: "no length"
        case .retrying: "retrying"
        case .publishing: "saving"
        case .gone: "gone"
        default: state.rawValue
        }
    }
}
