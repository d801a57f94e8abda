import Glibc
import TestSupport

/// Whether a run has to be as long as the promise it is for says.
var isWholeLongForm: Bool { isLongForm && getenv("CACHED_TEST_ROUNDS") == nil }

/// How often a run that comes in two forms does what it does; `CACHED_TEST_ROUNDS` sets another number.
func rounds(short: Int, long: Int) -> Int {
    getenv("CACHED_TEST_ROUNDS").flatMap { Int(String(cString: $0)) } ?? (isLongForm ? long : short)
}
