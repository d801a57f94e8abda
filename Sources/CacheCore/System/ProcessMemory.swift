import CLinux

/// The memory of this process, as the kernel counts it.
package enum ProcessMemory {
    /// Bytes of its own, not those of mapped files; `nil` if the kernel does not say. proc(5), `RssAnon`.
    static var anonymousBytes: Int? {
        let lines = ProcFile.text(of: "/proc/self/status")?.split(separator: "\n") ?? []
        let fields = lines.first { $0.hasPrefix("RssAnon:") }?.split(whereSeparator: \.isWhitespace)
        return fields?.dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
    }

    /// Bytes from which on the allocator maps a block by itself, and gives it back as soon as it is free; and of
    /// what is free at the end of a heap before that is.
    private static let largeBlock: Int32 = 1 << 20

    /// Has the allocator keep little of what is free. By itself it learns from each large block that is freed to
    /// keep the next of that size, up to 32 MB in each thread's heap: one long message is enough. mallopt(3).
    package static func keepLittle() {
        _ = mallopt(M_MMAP_THRESHOLD, largeBlock)
        _ = mallopt(M_TRIM_THRESHOLD, largeBlock)
    }

    /// Gives the allocator's free memory back to the kernel; true if there was any. malloc_trim(3).
    @discardableResult
    package static func giveBack() -> Bool {
        malloc_trim(0) != 0
    }
}
