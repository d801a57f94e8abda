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

    init(
        _ settings: TransferSettings, _ directory: CacheDirectory, _ logger: Logger,
        _ delegate: any TransferDelegate, _ connections: Connections
    ) {
        (self.settings, self.directory) = (settings, directory)
        (self.logger, self.delegate) = (logger, delegate)
        requests = RequestEnvironment(settings, connections)
        rateLimiter = RateLimiter(rate: settings.maximumRate, now: .now)
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
