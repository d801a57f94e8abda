internal import Synchronization
internal import SystemPackage

/// Whoever makes room on a full disk has it: no other thread of the cache takes it from under him.
final class FullDisk: Sendable {
    fileprivate let making = Mutex<Void>(())
}

extension Kernel {
    /// Runs `body`, which takes room on the disk; where that is full once more, after room was made.
    func storing<Result>(
        _ makeRoom: () -> Bool, _ body: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        fullDisk.making.withLock { _ in }
        do throws(Errno) {
            return try body()
        } catch {
            guard error.isFullDisk else { throw error }
            return try fullDisk.making.withLock { _ throws(Errno) in
                guard makeRoom() else { throw error }
                return try body()
            }
        }
    }
}
