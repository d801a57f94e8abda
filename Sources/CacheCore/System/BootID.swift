/// Names the time since the machine was started: what was written in another may have been hit by a power
/// cut.
enum BootID {
    /// 16 hex digits: the first of the kernel's own. Where that can't be read they are made up, so that
    /// nothing agrees with them but what this process wrote. random(4), `boot_id`.
    static let current =
        ProcFile.text(of: "/proc/sys/kernel/random/boot_id").flatMap(read) ?? random()

    /// - Parameter text: a UUID and a newline.
    static func read(_ text: String) -> String? {
        let digits = text.lowercased().filter { $0.isASCII && $0.isHexDigit }.prefix(16)
        return digits.count == 16 ? String(digits) : nil
    }

    static func random() -> String {
        let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
