import CacheKey
import CacheWire
import Synchronization
import TestSupport

/// A test oracle: records the replies that the clients of a cache received, and derives what its directory
/// must hold.
///
/// An image reported as `cached` *must exist*: it has to be there and complete after any end of the
/// daemon, unless something could have removed it since it was requested. Clients inform the oracle
/// before they send a call and after they have read a reply. If two calls overlap, every order of them is
/// accepted.
final class Oracle: Sendable {
    /// The state of one URL.
    struct Image: Sendable {
        let url: String
        /// Requested since the daemon was started, and neither completed nor failed since.
        var isPending = false
        /// The first reply came, so the daemon has accepted the request.
        var isAccepted = false
        var isReportedCached = false
        /// The size in bytes reported at the end of a fetch; `nil` while another version can arrive.
        var size: Int?
        /// A removal or an eviction can have taken it since it was requested.
        var mayBeGone = false
        /// Protected from eviction.
        var isPinned = false
        /// Reported as removed, and not requested since.
        var isReportedRemoved = false

        var mustExist: Bool { isReportedCached && !mayBeGone }
    }

    private struct State {
        /// By name in the directory.
        var images: [String: Image] = [:]
        /// The number of evictions in progress.
        var evictions = 0
        var isRecording = true
    }

    private let state = Mutex(State())

    static func name(of url: String) throws -> String {
        CacheKey(try CacheURL(url)).description
    }

    /// The state of all URLs, by name.
    var images: [String: Image] {
        state.withLock { $0.images }
    }

    /// The URL that a name stands for.
    func url(of name: String) -> String? {
        state.withLock { $0.images[name]?.url }
    }

    // MARK: Start and end of a daemon

    /// A daemon was started. One with an entry limit can evict at any time.
    func daemonStarted(evicting: Bool) {
        if evicting { willEvict() }
    }

    /// The daemon has ended. Its operations do not continue, and pending calls are never answered. A pin on
    /// an unfinished download is lost with the download.
    func daemonEnded() {
        state.withLock { state in
            state.evictions = 0
            state.isRecording = true
            for name in state.images.keys {
                state.images[name]!.isPending = false
                state.images[name]!.isAccepted = false
                if !state.images[name]!.isReportedCached { state.images[name]!.isPinned = false }
            }
        }
    }

    /// Ignores all replies from now on until the daemon has ended.
    func stopRecording() {
        state.withLock { $0.isRecording = false }
    }

    /// Forgets these names.
    func forget(_ names: some Sequence<String>) {
        state.withLock { state in
            for name in names { state.images[name] = nil }
        }
    }

    // MARK: Calls of clients

    /// A fetch is about to be sent.
    func willFetch(_ urls: [String]) throws {
        let names = try urls.map(Self.name)
        state.withLock { state in
            for (name, url) in zip(names, urls) {
                var image = state.images[name] ?? Image(url: url)
                if !image.mustExist {
                    image.isReportedCached = false
                    image.mayBeGone = state.evictions > 0
                }
                image.isPending = true
                image.isReportedRemoved = false
                image.size = nil
                state.images[name] = image
            }
        }
    }

    /// A fetch was answered with these items; the last reply is final.
    func didReceive(_ items: [Item], isFinal: Bool) {
        state.withLock { state in
            guard state.isRecording else { return }
            for item in items where state.images[item.key] != nil {
                state.images[item.key]!.isAccepted = true
                if item.state == .cached { state.images[item.key]!.isReportedCached = true }
                guard isFinal else { continue }
                state.images[item.key]!.isPending = false
                state.images[item.key]!.size = item.size
            }
        }
    }

    /// These images were reported as pinned.
    func didPin(_ items: [Item]) {
        state.withLock { state in
            for item in items where item.state != .missing && item.failure == nil {
                state.images[item.key]?.isPinned = true
            }
        }
    }

    /// A removal is about to be sent.
    func willRemove(_ urls: [String]) throws {
        let names = try urls.map(Self.name)
        state.withLock { state in
            for name in names { state.images[name]?.mayBeGone = true }
        }
    }

    /// A removal was answered.
    func didRemove(_ urls: [String]) throws {
        let names = try urls.map(Self.name)
        state.withLock { state in
            for name in names {
                state.images[name]?.isReportedRemoved = true
                state.images[name]?.isPinned = false
            }
        }
    }

    /// An eviction is about to be sent.
    func willEvict() {
        state.withLock { state in
            state.evictions += 1
            for name in state.images.keys where !state.images[name]!.isPinned {
                state.images[name]!.mayBeGone = true
            }
        }
    }

    /// An eviction was answered.
    func didEvict() {
        state.withLock { $0.evictions -= 1 }
    }
}
