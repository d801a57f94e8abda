import CacheValues
import Glibc

/// Identifies a file and its contents by fields of stat(2). The ctime is left out, because every use of an entry
/// changes it.
struct FileVersion: Equatable {
    private let file: CacheDirectory.Identity
    private let size: off_t
    private let modified: FileTime

    init(_ status: stat) {
        file = CacheDirectory.Identity(status)
        size = status.st_size
        modified = FileTime(status.st_mtim)
    }
}
