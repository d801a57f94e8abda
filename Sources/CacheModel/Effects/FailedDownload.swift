package import CacheKey
package import CacheValues

/// A download that ended without an image, for the log.
package struct FailedDownload: Sendable {
    package let url: CacheURL
    package let failure: Failure
}
