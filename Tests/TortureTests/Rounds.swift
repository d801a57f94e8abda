import Glibc
import TestSupport

/// Whether the run must reach the totals of its promise.
var isWholeLongForm: Bool { isLongForm && getenv("CACHED_TEST_ROUNDS") == nil }

/// The number of rounds, for the short or the long form; `CACHED_TEST_ROUNDS` sets another number.
func rounds(short: Int, long: Int) -> Int {
    getenv("CACHED_TEST_ROUNDS").flatMap { Int(String(cString: $0)) } ?? (isLongForm ? long : short)
}
