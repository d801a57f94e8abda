/// The thread that commits batches. It mostly waits for the disk; meanwhile the directory's thread prepares the
/// next batch.
final class CommitThread {
    /// A batch to commit.
    struct Commit: Sendable {
        var batch: PublicationBatch
        let method: GroupCommitPolicy.SyncMethod
    }

    /// A commit that has ended.
    struct Completion: Sendable {
        let files: Int
        let method: GroupCommitPolicy.SyncMethod
        let duration: Duration
    }

    private let commits = Inbox<Commit>()
    private let completions = Inbox<Completion>()
    private let thread: NamedThread
    /// Whether a batch was handed over whose completion was not taken yet. There is never more than one.
    private(set) var isBusy = false

    init(directory: CacheDirectory, delegate: any DirectoryWorkerDelegate) {
        thread = NamedThread("commit") { [commits, completions] in
            directory.kernel.growDescriptorTable(
                to: PublishQueue.largestBacklog, directory.descriptor)
            // The last element is moved out of the array, so that no copy keeps the files of a batch open.
            while var taken = commits.takeAll() {
                while var commit = taken.popLast() {
                    completions.put(commit.run(in: directory, delegate))
                }
            }
        }
    }

    /// Hands over a batch, while no other is being committed.
    func start(_ commit: Commit) {
        precondition(!isBusy, "a commit was started while another one runs")
        isBusy = true
        commits.put(commit)
    }

    /// The commit that has ended since the last call, if any. Does not wait.
    func takeCompletion() -> Completion? {
        isBusy ? finished(completions.takeAll(by: .now)) : nil
    }

    /// Waits until no batch is being committed; returns the commit that has ended meanwhile.
    func wait() -> Completion? {
        isBusy ? finished(completions.takeAll() ?? []) : nil
    }

    private func finished(_ completions: [Completion]) -> Completion? {
        guard let completion = completions.first else { return nil }
        isBusy = false
        return completion
    }

    /// Ends the thread once it has committed everything.
    func finish() {
        commits.close()
        thread.join()
    }
}

extension CommitThread.Commit {
    /// Commits the batch, and reports what became of its images before it returns.
    mutating func run(
        in directory: CacheDirectory, _ delegate: any DirectoryWorkerDelegate
    ) -> CommitThread.Completion {
        let (files, start) = (batch.count, ContinuousClock.now)
        let publications = directory.commit(&batch, method, makeRoom: delegate.makeRoom)
        let duration = start.duration(to: .now)
        delegate.published(publications)
        return CommitThread.Completion(files: files, method: method, duration: duration)
    }
}
