public import CacheValues
internal import Glibc

extension UnixTime {
    /// The current time of the wall clock. time(2).
    public static var now: UnixTime {
        UnixTime(clamping: Int64(time(nil)))
    }
}
