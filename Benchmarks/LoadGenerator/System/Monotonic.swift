import Glibc

/// The clock for all measurements.
enum Monotonic {
    /// Nanoseconds since a fixed moment; the clock is never set back. clock_gettime(2).
    @inline(__always)
    static func nanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
