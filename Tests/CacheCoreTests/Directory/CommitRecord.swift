import CacheKey
import Dispatch
import Synchronization

@testable import CacheCore
@testable import CacheModel

/// What became entries, commit by commit; each commit waits to be let through.
final class CommitRecord: Sendable {
    private let commits = Mutex<[[CacheKey]]>([])
    private let gate = DispatchSemaphore(value: 0)
    /// How many commits had ended whenever room was to be made.
    private let requests = Mutex<[Int]>([])

    var published: [[CacheKey]] { commits.withLock { $0 } }
    var roomRequests: [Int] { requests.withLock { $0 } }

    var owner: DirectoryWorker.Owner {
        DirectoryWorker.Owner(
            pinned: { _ in [] },
            onPublished: { [self] publications in
                _ = gate.wait(timeout: .now() + .seconds(120))
                commits.withLock { $0.append(publications.map(\.key)) }
            },
            makeRoom: { [self] _, _ in
                let count = published.count
                requests.withLock { $0.append(count) }
                return count > 0
            }, onUnlinked: { _, _ in })
    }

    func letThrough() { gate.signal() }
}
