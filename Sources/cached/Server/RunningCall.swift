import CacheCore
import CacheKey
import CacheWire
import NIOCore

/// A call whose answer is not complete.
enum RunningCall {
    /// Reads files on another thread.
    case work
    /// Waits for downloads.
    case fetch(FetchCall)

    /// A stream of replies, which the next call ends.
    var isStream: Bool {
        guard case .fetch(let call) = self else { return false }
        return call.isStream
    }
}

/// A `Fetch` that waits, or streams.
struct FetchCall {
    let interest: InterestID
    let targets: [Target]
    /// The caller takes progress.
    let isStream: Bool
    /// The bytes the caller wants and no others.
    let digest: ContentDigest?
    /// What the caller watches, and the URL to say it under; empty unless it is a stream.
    let watched: [CacheKey: String]
    /// Items changed since the last reply, encoded.
    var changes: [CacheKey: ByteBuffer] = [:]

    /// It names so many that what goes through all of them would hold up the event loop.
    var isLong: Bool { targets.count > 1000 }
}

/// One of the texts a call names.
struct Target {
    let text: String
    let wish: Result<Wish, InvalidURL>

    init(_ text: String) {
        self.text = text
        do throws(InvalidURL) {
            wish = .success(Wish(try CacheURL(text)))
        } catch {
            wish = .failure(error)
        }
    }

    /// What can be asked of the cache; `nil` for what is no URL.
    var valid: Wish? {
        guard case .success(let wish) = wish else { return nil }
        return wish
    }
}
