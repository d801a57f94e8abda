import CacheDisk
import CacheFetching
import CacheModel

/// Whether the cache is at work, and well.
extension Cache {
    /// Calls `body` on the thread of the downloads once that thread and the lock have taken a turn. If one of them
    /// hangs, `body` is not called; nor is it after ``drain()``.
    public func takeTurn(_ body: @escaping @Sendable () -> Void) {
        read { _ in }
        transfers.send(
            .call {
                self.read { _ in }
                body()
            })
    }

    /// Whether nothing is being downloaded or published, the directory is read, and no caller needs time to open an
    /// image that must not be stored.
    public var isIdle: Bool {
        read { state in
            guard state.fetching.downloads.all.isEmpty, state.disk.noStoreGrace.isEmpty else {
                return false
            }
            return state.disk.validity != .loading
        }
    }
}
