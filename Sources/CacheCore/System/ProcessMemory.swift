import CLinux

/// The memory of this process, as the kernel counts it.
package enum ProcessMemory {
    /// Gives the allocator's free memory back to the kernel; true if there was any. malloc_trim(3).
    @discardableResult
    package static func giveBack() -> Bool {
        malloc_trim(0) != 0
    }
}
