internal import Synchronization

/// Keeps the room on a full disk for the thread that makes it: other threads of the cache wait.
final class DiskSpaceLock: Sendable {
    let mutex = Mutex<Void>(())
}
