import Glibc
import Synchronization
import TestSupport

/// Another program on the file system that constantly syncs a file of its own, and so makes the kernel
/// write the journal with everything in it.
final class NoisyNeighbour: Sendable {
    private let file: Int32
    private let isStopping = Mutex(false)
    private let scope: TestScope

    init(on path: String, in scope: TestScope) throws {
        file = open("\(path)/neighbour", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw TestFailure("\(path)/neighbour can't be opened") }
        self.scope = scope
    }

    /// Starts syncing; continues until the scope or the file system ends.
    func begin() {
        let syncing = Task {
            try await offPool { [self] in
                while !isStopping.withLock({ $0 }), write(file, "x", 1) == 1, fsync(file) == 0 {
                    usleep(1000)
                }
                close(file)
            }
        }
        scope.atEnd { [self] in
            isStopping.withLock { $0 = true }
            try await syncing.value
        }
    }
}
