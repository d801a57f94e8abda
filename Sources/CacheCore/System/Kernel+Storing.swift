internal import Synchronization
internal import SystemPackage

extension Kernel {
    /// Runs `body`, which takes room on the disk. If the disk is full and `makeRoom` succeeds, runs it once more.
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
