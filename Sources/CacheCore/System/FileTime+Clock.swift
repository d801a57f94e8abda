public import CacheValues
internal import Glibc

extension FileTime {
    /// Seconds. Half of the range that 64 bits of nanoseconds have, so that differences of times do not
    /// overflow.
    private static let furthest = 1 << 32

    /// Creates the nearest time between the years 1834 and 2106. Any program can give a file any time.
    init(_ time: timespec) {
        let seconds = min(max(time.tv_sec, -Self.furthest), Self.furthest)
        self.init(nanoseconds: Int64(seconds) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The time at which a file was last used. A time that is a minute or more in the future counts as now:
    /// a clock that was ahead has left it.
    init(lastUse time: timespec) {
        let (time, now) = (FileTime(time), FileTime.now)
        self = time.nanoseconds - now.nanoseconds < 60_000_000_000 ? time : now
    }

    /// The current time of the wall clock, minus ``clockLag``. clock_gettime(2).
    ///
    /// A time of use must lie before the ctime of the call that sets it. Otherwise the kernel assumes that
    /// the file was read since it changed, and under `relatime` it then records no reading for a day.
    /// mount(8).
    public static var now: FileTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return FileTime(nanoseconds: FileTime(time).nanoseconds - clockLag)
    }

    /// The time in the form that utimensat(2) takes.
    var specification: timespec {
        let seconds = nanoseconds / 1_000_000_000
        return timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}
