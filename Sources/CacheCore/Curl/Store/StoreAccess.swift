internal import CacheKey
import Glibc
internal import Synchronization

/// The location of a store, and the credentials for it as they are now. Thread-safe.
final class StoreAccess: Sendable {
    let location: StoreLocation
    private let source: StoreCredentialSource
    private let known = Mutex<Known?>(nil)

    private struct Known {
        var credentials: StoreCredentials?
        var version: FileVersion?
        var checkedAt: ContinuousClock.Instant
    }

    /// How long a file of credentials is not looked at again.
    private static let interval = Duration.seconds(5)

    init(_ settings: StoreSettings) {
        (location, source) = (settings.location, settings.credentials)
    }

    /// The credentials; `nil` for a public bucket. A file is read again after it has changed.
    func credentials() throws(CredentialsFile.Problem) -> StoreCredentials? {
        guard let path = source.path else { return try source.read() }
        let old = known.withLock { $0 }
        if let old, old.checkedAt + Self.interval > .now { return old.credentials }
        let version = Self.version(of: path)
        var new = old ?? Known(credentials: nil, version: nil, checkedAt: .now)
        new.checkedAt = .now
        if old == nil || version != old?.version {
            new.credentials = try source.read()
            new.version = version
        }
        known.withLock { $0 = new }
        return new.credentials
    }

    /// stat(2).
    private static func version(of path: String) -> FileVersion? {
        var status = stat()
        return stat(path, &status) == 0 ? FileVersion(status) : nil
    }

    /// The store did not take the credentials, so the file may be a new one.
    func doubtCredentials() {
        known.withLock { $0?.checkedAt = .now - Self.interval }
    }

    /// A signed request, or an unsigned one for a public bucket.
    func request(
        _ method: StoreRequest.Method, headLimit: Duration? = nil
    ) throws(CredentialsFile.Problem) -> StoreRequest {
        StoreRequest(
            method: method, credentials: try credentials(), region: location.region,
            headLimit: headLimit)
    }
}
