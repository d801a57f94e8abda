import CacheCore
import Configuration

extension Settings {
    /// When failed downloads are retried.
    static func retry(_ options: DaemonOptions, _ reader: ConfigReader) throws -> RetryPolicy {
        var retry = RetryPolicy()
        if let text = options.attempts ?? reader.string(.attempts) {
            guard let count = Int(text), count > 0 else {
                throw bad(.attempts, text, "a number above 0")
            }
            retry.attempts = count
        }
        retry.remembersFailures =
            try answer(options.rememberFailures, .rememberFailures, reader) ?? true
        return retry
    }
}
