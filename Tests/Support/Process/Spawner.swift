import CTestSupport
import Foundation
import Glibc
import Synchronization

/// The single thread that starts children.
///
/// A child asks the kernel for SIGKILL when its parent dies (setpriv(1) does this for it), so that a
/// killed test run leaves no children behind. The kernel treats *the thread* that forked as the parent
/// (prctl(2), PR_SET_PDEATHSIG), so this thread lives as long as the process.
final class Spawner: Sendable {
    static let shared = Spawner()

    private let requests = Mutex<[@Sendable () -> Void]>([])
    private let pending = DispatchSemaphore(value: 0)

    private init() {
        let thread = Thread { [self] in
            while true {
                pending.wait()
                let request = requests.withLock { $0.removeFirst() }
                request()
            }
        }
        thread.name = "spawner"
        thread.start()
    }

    /// Runs `body` on the thread and returns its result.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) throws -> Result {
        let done = DispatchSemaphore(value: 0)
        let result = Mutex<Swift.Result<Result, any Error>?>(nil)
        requests.withLock { requests in
            requests.append {
                let outcome = Swift.Result(catching: body)
                result.withLock { $0 = outcome }
                done.signal()
            }
        }
        pending.signal()
        done.wait()
        return try result.withLock { $0! }.get()
    }
}
