/// Chooses how a batch of files is made durable: each by its own sync, or all by one of the file system.
///
/// fsync(2) flushes the disk's cache for every file; for many files one syncfs(2) is twice as fast. But
/// it also waits for what strangers have written, which may be gigabytes: one that took long is not
/// tried again for a while.
struct SyncPace {
    enum Choice: Sendable {
        case eachFile
        case fileSystem
    }

    /// Files from which on one sync for all pays.
    static let manyFiles = 16
    /// A sync of the file system that takes longer waits for others' bytes.
    static func patience(files: Int) -> Duration { .milliseconds(max(500, 2 * files)) }
    /// Batches until it is tried again.
    static let restraint = 64

    private var restrained = 0

    /// The way for the next batch.
    mutating func choose(files: Int) -> Choice {
        guard restrained == 0 else {
            restrained -= 1
            return .eachFile
        }
        return files >= Self.manyFiles ? .fileSystem : .eachFile
    }

    /// The batch took so long.
    mutating func took(_ duration: Duration, _ choice: Choice, files: Int) {
        if choice == .fileSystem, duration > Self.patience(files: files) {
            restrained = Self.restraint
        }
    }
}
