/// Decides when a batch of images is committed, and whether its files are synced one by one or together.
///
/// fsync(2) flushes the disk's cache once for each file. For many files, one syncfs(2) is twice as fast. But
/// syncfs(2) also writes the data of other programs, which can be gigabytes. After a slow one, the policy
/// chooses fsync(2) for a while.
///
/// While many images arrive, commits start at least ``interval`` apart, because every commit costs the journal
/// about the same, however many images it holds. A lone image, or a few, are committed at once.
struct GroupCommitPolicy {
    /// How the files of a batch reach the disk.
    enum SyncMethod: Sendable {
        /// fsync(2) for each file.
        case eachFile
        /// One syncfs(2) for all of them.
        case fileSystem
    }

    /// From this number of files on, one sync of the file system is faster, and waiting for more files pays.
    static let manyFiles = 16
    /// The time from the start of one commit to the start of the next.
    static let interval = Duration.milliseconds(50)
    /// A sync of the file system that takes longer than this writes the data of other programs.
    static func longestSync(files: Int) -> Duration { .milliseconds(max(500, 2 * files)) }
    /// After a choice that did not pay, the number of batches before it is made again.
    static let restraint = 64

    /// Batches left to sync file by file, after a slow sync of the file system.
    private var batchesByFile = 0
    /// Batches left to commit without waiting for more images, after a wait that brought few.
    private var batchesWithoutWait = 0
    private var lastStart: ContinuousClock.Instant?

    /// When the next of many commits in a row can start; `nil` before the first commit.
    var nextStart: ContinuousClock.Instant? { lastStart?.advanced(by: Self.interval) }

    /// Until when a batch of `files` images waits for more; `nil` if it is committed at once.
    mutating func gatheringEnd(
        files: Int, now: ContinuousClock.Instant
    ) -> ContinuousClock.Instant? {
        guard batchesWithoutWait == 0 else {
            batchesWithoutWait -= 1
            return nil
        }
        guard files > 1, let time = nextStart, time > now else { return nil }
        return time
    }

    /// A batch waited for more images, and holds this many now.
    mutating func gathered(files: Int) {
        if files < Self.manyFiles { batchesWithoutWait = Self.restraint }
    }

    /// The sync method for a batch whose commit starts now.
    mutating func startCommit(files: Int, now: ContinuousClock.Instant) -> SyncMethod {
        lastStart = now
        guard batchesByFile == 0 else {
            batchesByFile -= 1
            return .eachFile
        }
        return files >= Self.manyFiles ? .fileSystem : .eachFile
    }

    /// A commit has ended.
    mutating func committed(files: Int, _ method: SyncMethod, in duration: Duration) {
        if method == .fileSystem, duration > Self.longestSync(files: files) {
            batchesByFile = Self.restraint
        }
    }
}
