import CLinux

/// The memory of this process, as the kernel counts it.
package enum ProcessMemory {
    /// Free memory the allocator keeps at the end of an arena before it gives any back by itself: bytes.
    private static let kept: Int32 = 64 << 20
    /// What is larger is the kernel's again as soon as it is free: bytes. The allocator learns it by itself
    /// no more once the other is set.
    private static let large: Int32 = 4 << 20

    /// Leaves it to ``giveBack()`` when free memory goes back to the kernel. By itself glibc does it whenever
    /// 128 KiB are free: one thread receives images and another frees them when they are written, so that
    /// the same pages would come and go all the time, each time at the price of an interrupt on every
    /// processor. mallopt(3).
    package static func keepsFreed() {
        mallopt(M_TRIM_THRESHOLD, kept)
        mallopt(M_MMAP_THRESHOLD, large)
    }

    /// Gives the allocator's free memory back to the kernel; true if there was any. malloc_trim(3).
    @discardableResult
    package static func giveBack() -> Bool {
        malloc_trim(0) != 0
    }
}
