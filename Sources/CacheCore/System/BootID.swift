/// Identifies the current run of the machine. A file written in an earlier run can have lost bytes in a power cut.
enum BootID {
    /// The first 16 hex digits of the kernel's boot id. If that can't be read, random digits, which match only the
    /// files that this process writes. random(4), `boot_id`.
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
