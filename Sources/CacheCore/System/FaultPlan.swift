internal import Synchronization
internal import SystemPackage

/// Makes the n-th call of one kind fail, once or several times in a row.
final class FaultPlan: Sendable {
    private let call: SyscallName
    private let errno: Errno
    private let nth: Int
    private let times: Int
    private let other: FaultPlan?
    private let count = Mutex(0)

    /// Makes the `nth` call of the kind `call`, counted from 1, fail with `errno`, and the calls after it until
    /// `times` have failed. Another plan can make calls of another kind fail.
    init(
        _ call: SyscallName, nth: Int, _ errno: Errno, times: Int = 1,
        and other: FaultPlan? = nil
    ) {
        self.other = other
        self.call = call
        self.errno = errno
        self.nth = nth
        self.times = times
    }

    /// The calls of the kind so far.
    var seen: Int { count.withLock { $0 } }

    /// Whether the planned call was made and has failed.
    var hasStruck: Bool { seen >= nth }

    /// Counts a call; returns the error if this one has to fail.
    func next(_ name: SyscallName) -> Errno? {
        guard name == call else { return other?.next(name) }
        return count.withLock { count in
            count += 1
            return count >= nth && count - nth < times ? errno : nil
        }
    }
}
