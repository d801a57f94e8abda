internal import Synchronization
internal import SystemPackage

/// The system calls a ``FaultPlan`` can make fail.
enum SyscallName: Sendable, Hashable, CaseIterable {
    case openat, mkdir, flock, ftruncate, write, read, pread, fsync, syncfs, rename, linkat,
        unlinkat
    case syncFileRange
    case fstat, fstatat, statfs, getdents, inotify, eventfd, fadvise
    case fsetxattr, getxattr, fremovexattr, fchmod, utimensat
}

/// Makes the n-th call of one kind fail, once or several times running.
final class FaultPlan: Sendable {
    private let call: SyscallName
    private let errno: Errno
    private let nth: Int
    private let times: Int
    private let other: FaultPlan?
    private let count = Mutex(0)

    /// The `nth` call, counted from 1, of the kind `call` fails with `errno`; so do the next of `times`, and
    /// what another plan says, of another kind.
    init(
        _ call: SyscallName, nth: Int, _ errno: Errno, times: Int = 1,
        besides other: FaultPlan? = nil
    ) {
        self.other = other
        self.call = call
        self.errno = errno
        self.nth = nth
        self.times = times
    }

    /// Calls of the kind that came so far.
    var seen: Int { count.withLock { $0 } }

    /// Whether the planned call has come and failed.
    var hasStruck: Bool { seen >= nth }

    /// Counts a call; the error if it is the one to fail.
    func next(_ name: SyscallName) -> Errno? {
        guard name == call else { return other?.next(name) }
        return count.withLock { count in
            count += 1
            return count >= nth && count - nth < times ? errno : nil
        }
    }
}
