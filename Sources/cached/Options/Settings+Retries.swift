import CacheCore
import CacheValues

extension Settings {
    /// When failed downloads are retried.
    static func retry(_ values: SettingValues) throws -> RetryPolicy {
        var retry = RetryPolicy()
        guard let count = values.text(.attempts).flatMap({ Int($0) }), count > 0 else {
            throw values.bad(.attempts, "a number above 0")
        }
        retry.attempts = count
        retry.remembersFailures = try answer(.rememberFailures, values) ?? true
        return retry
    }
}
