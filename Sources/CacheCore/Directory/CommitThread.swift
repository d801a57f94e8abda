/// The thread that commits batches: it mostly waits for the disk, and meanwhile the next one is prepared.
///
/// The sync with which a batch begins settles the names of the one before, too, so that of many in a row each
/// costs one. Where none follows in time, the directory is synced for the last.
final class CommitThread {
    /// A batch to be committed.
    struct Commit: Sendable {
        let batch: PublicationBatch
        let choice: GroupCommitPolicy.Choice
        /// When the next one begins, if one is expected.
        let next: ContinuousClock.Instant?
    }

    /// What a commit took until its images had their names.
    struct End: Sendable {
        let choice: GroupCommitPolicy.Choice
        let files: Int
        let duration: Duration
    }

    private enum Order: Sendable {
        case commit(Commit)
        /// Nothing follows for now.
        case settle
    }

    /// How far the thread is.
    private struct Progress: Sendable {
        /// Commits whose images have their names.
        var named = 0
        /// Commits whose images are entries, or are not going to be.
        var settled = 0
        var end: End?
    }

    /// How much longer than expected the next one may be in coming.
    private static let grace = Duration.milliseconds(10)

    private let orders = Inbox<Order>()
    private let reports = Inbox<Progress>()
    private let thread: NamedThread
    /// Commits that were ordered.
    private var begun = 0
    private var progress = Progress()

    init(directory: CacheDirectory, owner: DirectoryWorker.Owner) {
        thread = NamedThread("commit") { [orders, reports] in
            // One batch is prepared, one synced, and one has its names.
            directory.kernel.growDescriptorTable(
                to: 3 * PublishQueue.largestBatch, directory.descriptor)
            Self.run(directory, owner, orders, reports)
        }
    }

    /// Whether a batch is on its way whose images do not have their names yet; no other can begin.
    var isCommitting: Bool { progress.named < begun }

    /// Whether there are images of which is not known whether they are entries.
    var isUnsettled: Bool { progress.settled < begun }

    /// Begins a commit; there is never more than one.
    func begin(_ commit: Commit) {
        begun += 1
        orders.put(.commit(commit))
    }

    /// Has the images that have their names become entries at once; does not wait for it.
    func hurry() {
        if isUnsettled { orders.put(.settle) }
    }

    /// Takes in what was reported so far: the ends of commits.
    func takeEnds() -> [End] {
        note(reports.takeAll(by: .now))
    }

    /// Waits until another commit can begin.
    func waitForNames() -> [End] {
        wait { isCommitting }
    }

    /// Waits until all images are entries.
    func waitForAll() -> [End] {
        hurry()
        return wait { isUnsettled }
    }

    /// Ends the thread, once it is through.
    func finish() {
        orders.close()
        thread.join()
    }

    private func wait(while holds: () -> Bool) -> [End] {
        var ends: [End] = []
        while holds(), let reports = reports.takeAll() { ends += note(reports) }
        return ends
    }

    private func note(_ reports: [Progress]) -> [End] {
        if let last = reports.last { progress = last }
        return reports.compactMap(\.end)
    }

    // MARK: On the thread

    private static func run(
        _ directory: CacheDirectory, _ owner: DirectoryWorker.Owner, _ orders: Inbox<Order>,
        _ reports: Inbox<Progress>
    ) {
        var progress = Progress()
        var named: NamedBatch?
        var next = ContinuousClock.now
        func settle() {
            guard let batch = named.take() else { return }
            owner.onPublished(directory.settle(batch))
            progress.settled = progress.named
            reports.put(progress)
        }
        func perform(_ commit: Commit) {
            let start = ContinuousClock.now
            named = directory.name(
                commit.batch, sync: commit.choice, after: named.take(),
                onSettled: owner.onPublished, makeRoom: owner.makeRoom)
            progress.settled = progress.named
            progress.named += 1
            progress.end = End(
                choice: commit.choice, files: commit.batch.count,
                duration: start.duration(to: .now))
            reports.put(progress)
            progress.end = nil
            next = commit.next.map { max($0, .now) + grace } ?? .now
        }
        while true {
            // With names that wait for it no longer than that; without, until there is anything to do.
            guard var taken = named == nil ? orders.takeAll() : orders.takeAll(by: next) else {
                return
            }
            if taken.isEmpty { settle() }
            // Taken from the end, so that nothing keeps the files of a settled batch open.
            taken.reverse()
            while let order = taken.popLast() {
                switch order {
                case .commit(let commit): perform(commit)
                case .settle: settle()
                }
            }
        }
    }
}
