import CacheKey
import CacheWire
import Synchronization
import TestSupport

/// Remembers what the clients of a cache were told, and so what its directory has to hold.
///
/// Told `cached`, an image is *owed*: it has to be there, whole, after any end of the daemon, unless
/// something may have taken it since it was asked for. Several clients tell a oracle what they do, each
/// before a call is sent and after an answer was read; where two of them overlap, the cache gets the benefit
/// of the doubt.
final class Oracle: Sendable {
    /// What is known of one URL.
    struct Image: Sendable {
        let url: String
        /// Asked for since the daemon was started, and neither answered nor failed since.
        var isPending = false
        /// A first answer came: the daemon has taken the wish.
        var isAccepted = false
        var isReportedCached = false
        /// Bytes of what was told at the end of a fetch; `nil` while another version may come.
        var size: Int?
        /// A removal or an eviction may have taken it since it was asked for.
        var mayBeGone = false
        /// No eviction takes it.
        var isPinned = false
        /// Told to be removed, and not asked for since.
        var isReportedRemoved = false

        var mustExist: Bool { isReportedCached && !mayBeGone }
    }

    private struct State {
        /// By the name in the directory.
        var images: [String: Image] = [:]
        /// How many evictions are under way.
        var evictions = 0
        var isRecording = true
    }

    private let state = Mutex(State())

    static func name(of url: String) throws -> String {
        CacheKey(try CacheURL(url)).description
    }

    /// All that is known now, by name.
    var images: [String: Image] {
        state.withLock { $0.images }
    }

    /// What one name stands for.
    func url(of name: String) -> String? {
        state.withLock { $0.images[name]?.url }
    }

    // MARK: Lives of the daemon

    /// A daemon was started; one that keeps within a limit may evict at any time.
    func daemonStarted(evicting: Bool) {
        if evicting { willEvict() }
    }

    /// It has ended. What it had begun goes on no more, and who was not answered never will be. A pin that
    /// was on a download is lost with that.
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

    /// What is answered from now on, until the daemon has ended, counts for nothing.
    func stopRecording() {
        state.withLock { $0.isRecording = false }
    }

    /// A name is of no interest any more.
    func forget(_ names: some Sequence<String>) {
        state.withLock { state in
            for name in names { state.images[name] = nil }
        }
    }

    // MARK: What clients do

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

    /// Items of an answer to a fetch; at its end they are final.
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

    /// What was asked for, or is here, was told to be pinned.
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
