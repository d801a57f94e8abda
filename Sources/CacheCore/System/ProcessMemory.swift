import CLinux

/// The memory of this process, as the kernel counts it.
package enum ProcessMemory {
    /// Bytes of its own, not those of mapped files; `nil` if the kernel does not say. proc(5), `RssAnon`.
    static var anonymousBytes: Int? {
        let lines = ProcFile.text(of: "/proc/self/status")?.split(separator: "\n") ?? []
        let fields = lines.first { $0.hasPrefix("RssAnon:") }?.split(whereSeparator: \.isWhitespace)
        return fields?.dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
    }

    /// Gives the allocator's free memory back to the kernel; true if there was any. malloc_trim(3).
    @discardableResult
    package static func giveBack() -> Bool {
        malloc_trim(0) != 0
    }
}
