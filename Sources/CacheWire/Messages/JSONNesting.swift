/// How deep the arrays and objects of a JSON text lie in each other.
enum JSONNesting {
    /// More than any message of the interface needs. A parser may refuse what is deeper (RFC 8259 §9), and
    /// has to before Foundation's decoder sees it: that one ends the process at a text that breaks off
    /// right behind its 513th bracket.
    static let limit = 64

    /// Whether some value lies deeper. Text that is no JSON is judged by its brackets outside of strings.
    static func isTooDeep(_ text: some Sequence<UInt8>) -> Bool {
        var depth = 0
        var isInString = false
        var isEscaped = false
        for byte in text {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                if depth > limit { return true }
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
        return false
    }
}
