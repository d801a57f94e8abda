import Glibc
import TestSupport

/// How often a run that comes in two forms does what it does; `CACHED_TEST_ROUNDS` sets another number.
func rounds(short: Int, long: Int) -> Int {
    getenv("CACHED_TEST_ROUNDS").flatMap { Int(String(cString: $0)) } ?? (isLongForm ? long : short)
}
