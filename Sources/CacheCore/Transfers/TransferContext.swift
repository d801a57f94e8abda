internal import CacheKey
internal import Logging
internal import SystemPackage

/// The things that all downloads share. Belongs to the transfer loop's thread. A class, because each copy of a
/// struct would retain every member.
final class TransferContext {
    let settings: TransferSettings
    let directory: CacheDirectory
    let logger: Logger
    let delegate: any TransferDelegate
    let requests: RequestEnvironment
    let rateLimiter: RateLimiter
    /// Whether it was logged that partials cannot be locked.
    private var hasWarnedOfLocks = false

    init(
        _ settings: TransferSettings, _ directory: CacheDirectory, _ logger: Logger,
        _ delegate: any TransferDelegate, _ connections: Connections
    ) {
        (self.settings, self.directory) = (settings, directory)
        (self.logger, self.delegate) = (logger, delegate)
        requests = RequestEnvironment(settings, connections)
        rateLimiter = RateLimiter(rate: settings.maximumRate, now: .now)
    }

    /// Locks a partial as a sign of life for other programs.
    func hold(_ file: StagingFile) {
        guard !file.hold(), !hasWarnedOfLocks else { return }
        hasWarnedOfLocks = true
        logger.notice(
            """
            the file system has no locks for partial downloads, so other programs cannot tell a running \
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
