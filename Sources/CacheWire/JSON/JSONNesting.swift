/// Limits the nesting of arrays and objects in a JSON text.
enum JSONNesting {
    /// More levels than any message of the interface needs. A parser can set a limit (RFC 8259 §9).
    /// This one protects Foundation's decoder, which ends the process if a text breaks off directly
    /// after its 513th bracket.
    static let limit = 64

    /// Returns whether the nesting exceeds the limit. In a text that is not JSON, all brackets
    /// outside strings count.
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
