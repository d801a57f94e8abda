internal import Synchronization
internal import SystemPackage

/// The system calls a ``FaultPlan`` can make fail.
enum SyscallName: Sendable, Hashable, CaseIterable {
    case openat, mkdir, write, fstat, fstatat, fsetxattr, getxattr, fchmod, fsync, syncfs, rename,
        unlinkat
    case ftruncate, flock, getdents, inotify, utimensat, statfs, pread, fremovexattr
}

/// Makes the n-th call of one kind fail, once.
final class FaultPlan: Sendable {
    private let call: SyscallName
    private let errno: Errno
    private let remaining: Mutex<Int>

    /// The `nth` call, counted from 1, of the kind `call` fails with `errno`.
    init(_ call: SyscallName, nth: Int, _ errno: Errno) {
        self.call = call
        self.errno = errno
        self.remaining = Mutex(nth)
    }

    /// Whether the planned call has come and failed.
    var hasStruck: Bool { remaining.withLock { $0 <= 0 } }

    /// Counts a call; the error if it is the one to fail.
    func next(_ name: SyscallName) -> Errno? {
        guard name == call else { return nil }
        return remaining.withLock { count in
            count -= 1
            return count == 0 ? errno : nil
        }
    }
}
