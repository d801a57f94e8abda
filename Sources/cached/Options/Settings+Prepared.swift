import CacheCore
import Logging

extension Settings {
    /// The settings with everything that they refer to: the header fields of origins, and limits that fit the number
    /// of open files.
    ///
    /// - Throws: `StartFailure` if a file of header fields is wrong.
    func prepared(_ logger: Logger) throws -> Settings {
        var settings = self
        DescriptorLimit.apply(to: &settings.cache, logger)
        if let headers {
            settings.cache.transfers.originHeaders = try HeaderDirectory(headers, logger: logger)
        }
        return settings
    }
}
