import CacheKey
import CacheValues
import Dispatch
import Synchronization

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Records what became entries, commit by commit. Each commit waits until it is let through.
final class CommitRecord: DirectoryWorkerDelegate {
    private let commits = Mutex<[[CacheKey]]>([])
    private let gate = DispatchSemaphore(value: 0)
    /// How many commits had ended at each request for room.
    private let requests = Mutex<[Int]>([])
    /// Called when a commit reports its images.
    private let onPublished: @Sendable () -> Void

    init(onPublished: @escaping @Sendable () -> Void = {}) {
        self.onPublished = onPublished
    }

    var published: [[CacheKey]] { commits.withLock { $0 } }
    var roomRequests: [Int] { requests.withLock { $0 } }

    func letThrough() { gate.signal() }

    func pinned(among keys: [CacheKey]) -> Set<CacheKey> { [] }

    func originals(of digest: ContentDigest, size: Int64, for key: CacheKey) -> [any OpenFile] {
        []
    }

    func published(_ publications: [Publication]) {
        onPublished()
        _ = gate.wait(timeout: .now() + .seconds(120))
        commits.withLock { $0.append(publications.map(\.key)) }
    }

    func makeRoom(for key: CacheKey, _ bytes: Int64) -> Bool {
        let count = published.count
        requests.withLock { $0.append(count) }
        return count > 0
    }

    func unlinked(_ victim: Victim, isGone: Bool) {}
}
