/// The meaning of a piece of text, which determines its color.
enum TextStyle: Hashable {
    case plain
    /// Less important text: remaining work, units, hints.
    case faint
    /// More important text: names, totals.
    case strong
    /// The filled part of a bar or ring.
    case done
    /// A download that will be retried.
    case warning
    case failure
    /// A placeholder with a brightness from 0 to ``Shimmer/brightest``.
    case shimmer(Int)
}

extension TextStyle {
    /// The parameters of Select Graphic Rendition (ECMA-48 §8.3.117) that follow a reset.
    func rendition(_ colors: TerminalCapabilities.Colors) -> String {
        switch self {
        case .plain: ""
        // Without colors, only the weight of the letters remains.
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
            // A grey that is visible on black and on white.
            let grey = 88 + light * 120 / Shimmer.brightest
            return ";38;2;\(grey);\(grey);\(grey)"
        }
    }
}
