/// Chooses when a batch of files is made durable, and how: each by its own sync, or all by one of the
/// file system.
///
/// fsync(2) flushes the disk's cache for every file; for many files one syncfs(2) is twice as fast. But
/// it also waits for what strangers have written, which may be gigabytes: one that took long is not
/// tried again for a while.
///
/// While many files come, commits begin at least ``interval`` apart: each costs the journal about the same
/// whatever is in it. Who is alone, or few, does not wait.
struct GroupCommitPolicy {
    enum Choice: Sendable {
        case eachFile
        case fileSystem
    }

    /// Files from which on one sync for all pays, and so does waiting for more of them.
    static let manyFiles = 16
    /// From one commit's begin to that of the next.
    static let interval = Duration.milliseconds(50)
    /// A sync of the file system that takes longer waits for others' bytes.
    static func patience(files: Int) -> Duration { .milliseconds(max(500, 2 * files)) }
    /// Batches until it is tried again.
    static let restraint = 64

    private var restrained = 0
    /// When the last batch was begun.
    private var lastBegin: ContinuousClock.Instant?
    /// Batches until one is waited for again, after too few files came meanwhile.
    private var unwaited = 0

    /// Until when more files may gather beside so many; `nil` where the batch is to begin at once.
    mutating func gathersUntil(
        files: Int, now: ContinuousClock.Instant
    ) -> ContinuousClock.Instant? {
        guard unwaited == 0 else {
            unwaited -= 1
            return nil
        }
        guard files > 1, let time = nextBegin, time > now else { return nil }
        return time
    }

    /// When the next of many in a row may begin; `nil` before the first.
    var nextBegin: ContinuousClock.Instant? { lastBegin?.advanced(by: Self.interval) }

    /// Whether a batch may begin although more files are there already: it is many, and it is time.
    ///
    /// - Parameter awaited: how many there are still to the last, where somebody waits for that. Then it is time
    ///   once the batch has as many: each that follows has about half of what is left.
    func mayBegin(files: Int, awaited: Int?, at now: ContinuousClock.Instant) -> Bool {
        guard files >= Self.manyFiles else { return false }
        if let awaited, files >= awaited { return true }
        return nextBegin.map { $0 <= now } ?? true
    }

    /// When the commit after one that begins now may begin, if it is one of many in a row.
    func next(after now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        lastBegin.flatMap { now < $0 + Self.interval * 2 ? now + Self.interval : nil }
    }

    /// So many files were there in the end.
    mutating func gathered(files: Int) {
        if files < Self.manyFiles { unwaited = Self.restraint }
    }

    /// The way for the next batch, which begins now.
    mutating func choose(files: Int, now: ContinuousClock.Instant) -> Choice {
        lastBegin = now
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
