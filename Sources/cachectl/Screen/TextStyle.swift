/// What a piece of text is, from which its colour follows.
enum TextStyle: Hashable {
    case plain
    /// Less important: what is still to come, units, hints.
    case faint
    /// More important: names, totals.
    case strong
    /// What is done of a bar or ring.
    case done
    /// Something is about to be tried again.
    case warning
    case failure
    /// A placeholder that so much light falls on, 0 to ``Shimmer/brightest``.
    case shimmer(Int)
}

extension TextStyle {
    /// The parameters of Select Graphic Rendition (ECMA-48 §8.3.117) behind a reset.
    func rendition(_ colors: TerminalCapabilities.Colors) -> String {
        switch self {
        case .plain: ""
        // Without colours the weight of the letters is left.
        case .faint: colors == .none ? ";2" : ";90"
        case .strong: ";1"
        case .done: colors == .none ? "" : ";32"
        case .warning: colors == .none ? "" : ";33"
        case .failure: colors == .none ? ";1" : ";31"
        case .shimmer(let light): Self.shimmer(light, colors)
        }
    }

    private static func shimmer(_ light: Int, _ colors: TerminalCapabilities.Colors) -> String {
        switch colors {
        case .none: return ""
        case .sixteen: return [";90", ";37", ";97"][light * 2 / Shimmer.brightest]
        case .direct:
            // A grey that is seen on black and on white.
            let grey = 88 + light * 120 / Shimmer.brightest
            return ";38;2;\(grey);\(grey);\(grey)"
        }
    }
}
