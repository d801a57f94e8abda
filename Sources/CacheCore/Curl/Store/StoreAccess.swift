import CacheFetching
internal import CacheKey
import CacheValues
import Glibc
internal import Synchronization

/// The location of a store, and the credentials for it as they are now. Thread-safe.
final class StoreAccess: Sendable {
    let location: StoreLocation
    /// The keys of those whose objects count. `nil` if all do.
    let trusted: [VerifyingKey]?
    private let source: StoreCredentialSource
    private let known = Mutex<Known?>(nil)

    private struct Known {
        /// The last ones that could be read.
        var credentials: StoreCredentials?
        var missing: StoreCredentialSource.Missing?
        var versions: [FileVersion?]
        /// When the service is asked for others.
        var renewal = ContinuousClock.now
    }

    /// The time before the end of credentials at which others are asked for, and the one between two tries.
    private static let reserve: Int64 = 300
    private let tryInterval: Duration

    init(_ settings: StoreSettings, tryInterval: Duration = .seconds(10)) {
        self.tryInterval = tryInterval
        (location, source) = (settings.location, settings.credentials)
        trusted = settings.trusted
    }

    /// The credentials; `nil` for a public bucket. A file is read again when it has changed. If it is empty or incomplete
    /// then, perhaps because it is being written, the last credentials count.
    func credentials() throws(StoreCredentialSource.Missing) -> StoreCredentials? {
        let now = known.withLock { known in
            if source.service != nil, let known { return known }
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

    /// When the service has to be asked again. `nil` without one.
    var renewal: ContinuousClock.Instant? {
        source.service == nil ? nil : known.withLock { $0?.renewal } ?? .now
    }

    /// Asks the service for other credentials if these end soon. Waits some seconds at most.
    ///
    /// - Returns: whether there are others now.
    func renew(_ requests: BriefRequests) -> Bool {
        guard let service = source.service, let renewal, renewal <= .now else { return false }
        var now = known.withLock { $0 } ?? Known(versions: [])
        let old = now.credentials
        now.renewal = .now + tryInterval
        do throws(CredentialService.Problem) {
            let new = try service.credentials(requests)
            (now.credentials, now.missing) = (new.credentials, nil)
            let left = new.end.map { $0 - .now } ?? 2 * Self.reserve
            now.renewal = .now + max(tryInterval, .seconds(max(left - Self.reserve, left / 2)))
        } catch {
            now.missing = .init(places: ["\(service.name) (\(error))"])
        }
        known.withLock { $0 = now }
        return now.credentials != old
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
