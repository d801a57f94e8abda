import Glibc
import Logging

/// A warning at the start: users who may write to the directory can remove images, and exchange the lock so that the daemon
/// does not start. `cachectl doctor` says it too.
enum OpenDirectoryNotice {
    static func log(_ directory: String, _ logger: Logger) {
        var status = stat()
        guard stat(directory, &status) == 0, status.st_mode & 0o022 != 0 else { return }
        logger.warning(
            """
            other users can write to the cache directory; they can remove images and keep the daemon from \
            starting; run chmod go-w on it
            """,
            metadata: [
                "directory": "\(directory)", "mode": "\(String(status.st_mode & 0o7777, radix: 8))",
            ])
    }
}
