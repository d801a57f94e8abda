internal import Synchronization
internal import SystemPackage

extension Kernel {
    /// Runs `body`, which takes room on the disk. If the disk is full and `makeRoom` succeeds, runs it again, up to
    /// three times: a file that is open, or that an image not yet published shares, gives nothing back when its entry
    /// is evicted.
    func storing<Result>(
        _ makeRoom: () -> Bool, _ body: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        diskSpaceLock.mutex.withLock { _ in }
        do throws(Errno) {
            return try body()
        } catch  where error.isFullDisk {
            return try diskSpaceLock.mutex.withLock { _ throws(Errno) in
                for _ in 1..<3 {
                    guard makeRoom() else { throw error }
                    do throws(Errno) { return try body() } catch  where error.isFullDisk {
                        continue
                    }
                }
                guard makeRoom() else { throw error }
                return try body()
            }
        }
    }
}
