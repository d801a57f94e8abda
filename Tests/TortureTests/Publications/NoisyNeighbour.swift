import Glibc
import Synchronization
import TestSupport

/// Another program on a file system that syncs a file of its own all the while, and so has the journal
/// written with whatever is in it.
final class NoisyNeighbour: Sendable {
    private let file: Int32
    private let isStopping = Mutex(false)
    private let scope: TestScope

    init(on path: String, in scope: TestScope) throws {
        file = open("\(path)/neighbour", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw TestFailure("\(path)/neighbour can't be opened") }
        self.scope = scope
    }

    /// Begins; goes on until the scope ends or its file system does.
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
