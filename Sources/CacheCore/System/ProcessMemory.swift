import CLinux
import Synchronization

/// The memory of this process, as the kernel counts it.
package enum ProcessMemory {
    /// Bytes of anonymous memory, without mapped files; `nil` if the kernel does not say. proc(5), `RssAnon`.
    package static var anonymousBytes: Int? { bytes("RssAnon:") }

    /// Bytes of memory that the process has in RAM, mapped files included; `nil` if the kernel does not say. proc(5),
    /// `VmRSS`.
    package static var residentBytes: Int? { bytes("VmRSS:") }

    private static func bytes(_ field: String) -> Int? {
        let lines = ProcFile.text(of: "/proc/self/status")?.split(separator: "\n") ?? []
        let fields = lines.first { $0.hasPrefix(field) }?.split(whereSeparator: \.isWhitespace)
        return fields?.dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
    }

    /// A block of this many bytes or more is mapped by itself, and returned to the kernel as soon as it is freed. So
    /// much free memory at the end of a heap is returned too.
    package static let largeBlock = 1 << 20

    /// Makes the allocator keep little free memory. By default, each large block that is freed teaches it to keep the
    /// next block of that size, up to 32 MB in each thread's heap. One long message is enough for that. mallopt(3).
    package static func keepLittle() {
        _ = mallopt(M_MMAP_THRESHOLD, Int32(largeBlock))
        _ = mallopt(M_TRIM_THRESHOLD, Int32(largeBlock))
    }

    private static let freed = Atomic(false)

    /// Much memory that clients have held is or becomes free. Any thread may call it.
    package static func muchWasFreed() { freed.store(true, ordering: .relaxed) }

    /// Whether ``muchWasFreed()`` was called since the last time.
    static func takeFreed() -> Bool { freed.exchange(false, ordering: .relaxed) }

    /// Returns the allocator's free memory to the kernel; returns whether there was any. malloc_trim(3).
    @discardableResult
    package static func giveBack() -> Bool {
        malloc_trim(0) != 0
    }
}
