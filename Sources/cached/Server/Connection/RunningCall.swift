import CacheCore
import CacheFetching
import NIOCore

/// A call that is not completely answered yet.
enum RunningCall: Sendable {
    /// Other threads work on it. If it `failsOnShutdown`, the caller gets an error when the daemon stops first.
    case work(failsOnShutdown: Bool)
    /// Waits for downloads.
    case fetch(FetchCall)
    /// Reports changes.
    case watch
    /// Reads all entries.
    case verify(VerifyCall)

    /// The cache's names for the caller, if the call is a `Fetch`.
    var waiters: [WaiterID] {
        guard case .fetch(let call) = self else { return [] }
        return call.waiters
    }

    /// Whether it is a stream of replies, which the next call ends.
    var isStream: Bool {
        switch self {
        case .work: false
        case .fetch(let call): call.isStream
        case .watch: true
        case .verify(let call): call.isStream
        }
    }

    /// Whether a reply about all its URLs would delay other clients if the event loop wrote it.
    var isLong: Bool {
        guard case .fetch(let call) = self else { return false }
        return call.isLong
    }

    /// Bytes that the daemon holds for a `Fetch` and the URLs that it names.
    var memory: Int {
        guard case .fetch(let call) = self else { return 0 }
        return call.wanted.memory
    }

    /// Writes the last reply of a stream that another call ends: all items of a `Fetch`, no news of a `Watch`,
    /// the progress of a `Verify`. Any thread can call it.
    func writeLastReply(from server: ServerContext, to output: inout ByteBuffer) {
        switch self {
        case .fetch(let call): call.writeLastReply(from: server, to: &output)
        case .watch: server.replies.write([], continues: false, to: &output)
        case .verify(let call): call.writeLastReply(from: server, to: &output)
        case .work: break
        }
    }

    /// Drops what the call holds in the cache. Any thread can call it.
    func cancel(in server: ServerContext) {
        switch self {
        case .fetch(let call): call.leave(in: server)
        case .verify(let call): call.verification.cancel()
        case .watch, .work: break
        }
    }
}
