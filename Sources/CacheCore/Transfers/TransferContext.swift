internal import CacheKey
import CacheValues
internal import Logging
internal import SystemPackage

/// The things that all downloads share. Belongs to the transfer loop's thread. A class, because each copy of a
/// struct would retain every member.
final class TransferContext {
    let directory: CacheDirectory
    let logger: Logger
    let delegate: any TransferDelegate
    /// For downloads that begin now.
    private(set) var requests: RequestEnvironment
    private let connections: Connections
    let rateLimiter: RateLimiter
    let turns = TransferTurns()
    let bytes: BodyThread
    /// The store that is asked; `nil` if origins are.
    let store: StoreAccess?
    /// Whether it was logged that partials cannot be locked.
    private var hasWarnedOfLocks = false

    init(
        _ settings: TransferSettings, _ directory: CacheDirectory, _ logger: Logger,
        _ delegate: any TransferDelegate, _ connections: Connections, _ bytes: BodyThread,
        store: StoreAccess? = nil
    ) {
        (self.bytes, self.store) = (bytes, store)
        (self.directory, self.connections) = (directory, connections)
        (self.logger, self.delegate) = (logger, delegate)
        requests = RequestEnvironment(settings, connections)
        rateLimiter = RateLimiter(rate: settings.maximumRate, now: .now)
    }

    var settings: TransferSettings { requests.settings }

    /// The settings have changed. Downloads that run keep those that they began with, apart from the rate.
    func configure(_ settings: TransferSettings) {
        requests = RequestEnvironment(settings, connections, requests.servers)
        rateLimiter.rate = settings.maximumRate
    }

    /// Locks a partial as a sign of life for other programs.
    func hold(_ file: StagingFile) {
        guard !file.hold(), !hasWarnedOfLocks else { return }
        hasWarnedOfLocks = true
        logger.notice(
            """
            the file system has no locks for partial downloads, so other programs cannot distinguish a running \
            download from an interrupted one by the file alone
            """,
            metadata: ["directory": "\(directory.path)"])
    }

    func discardPartial(_ key: CacheKey) {
        do {
            try directory.discardPartial(of: key)
        } catch {
            logger.warning(
                "a partial download could not be removed",
                metadata: [
                    "directory": "\(directory.path)", "name": "\(DirectoryName.partial(key))",
                    "error": "\(error)", "remedy": "\(error.remedy)",
                ])
        }
    }
}
