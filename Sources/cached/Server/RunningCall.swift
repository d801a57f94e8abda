import CacheCore
import CacheKey
import CacheWire
import NIOCore

/// A call whose answer is not complete.
enum RunningCall {
    /// Is worked at on other threads. Its caller may have to be told that the daemon ends before there is an
    /// answer.
    case work(hearsOfEnd: Bool)
    /// Waits for downloads.
    case fetch(FetchCall)
    /// Tells of changes.
    case watch
    /// Reads all entries.
    case verify(VerifyCall)

    /// What a `Fetch` waits for.
    var interest: WaiterID? {
        guard case .fetch(let call) = self else { return nil }
        return call.interest
    }

    /// A stream of replies, which the next call ends.
    var isStream: Bool {
        switch self {
        case .work: false
        case .fetch(let call): call.isStream
        case .watch: true
        case .verify(let call): call.isStream
        }
    }
}

/// A `Fetch` that waits, or streams.
struct FetchCall {
    let interest: WaiterID
    let targets: [Target]
    /// The caller takes progress.
    let isStream: Bool
    /// The bytes the caller wants and no others.
    let digest: ContentDigest?
    /// What a stream tells about.
    let subject: Subscription.Subject

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
