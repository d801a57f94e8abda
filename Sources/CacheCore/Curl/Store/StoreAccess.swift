internal import CacheKey
import CacheModel
import Glibc
internal import Synchronization

/// The location of a store, and the credentials for it as they are now. Thread-safe.
final class StoreAccess: Sendable {
    let location: StoreLocation
    private let source: StoreCredentialSource
    private let known = Mutex<Known?>(nil)

    private struct Known {
        /// The last ones that could be read.
        var credentials: StoreCredentials?
        var missing: StoreCredentialSource.Missing?
        var versions: [FileVersion?]
    }

    init(_ settings: StoreSettings) {
        (location, source) = (settings.location, settings.credentials)
    }

    /// The credentials; `nil` for a public bucket. A file is read again when it has changed. If it is empty or incomplete
    /// then, perhaps because it is being written, the last credentials count.
    func credentials() throws(StoreCredentialSource.Missing) -> StoreCredentials? {
        let now = known.withLock { known in
            let versions = source.files.map(Self.version)
            var now = known ?? Known(versions: [])
            if known == nil || now.versions != versions {
                now.versions = versions
                do throws(StoreCredentialSource.Missing) {
                    (now.credentials, now.missing) = (try source.read(), nil)
                } catch {
                    now.missing = error
                }
            }
            known = now
            return now
        }
        if now.credentials == nil, let missing = now.missing { throw missing }
        return now.credentials
    }

    /// Whether there are other credentials than at the last request.
    func hasOtherCredentials() -> Bool {
        let old = known.withLock { $0?.credentials }
        do {
            return try credentials() != old
        } catch {
            return false
        }
    }

    /// stat(2).
    private static func version(of path: String) -> FileVersion? {
        var status = stat()
        return stat(path, &status) == 0 ? FileVersion(status) : nil
    }

    /// A signed request, or an unsigned one for a public bucket.
    func request(
        _ method: StoreRequest.Method, _ patience: StorePatience? = nil
    ) throws(StoreCredentialSource.Missing) -> StoreRequest {
        StoreRequest(
            method: method, credentials: try credentials(), region: location.region,
            patience: patience)
    }
}
