internal import CacheKey
import Glibc
internal import Synchronization

/// Files that look like entries and are none: damaged ones that can't be marked, and those that may not survive
/// a power cut and can't be removed. The next daemon knows nothing of them.
///
/// Each is known by what `stat(2)` tells, so that whatever takes its place, or its bytes', counts.
final class Quarantine: Sendable {
    private struct Mark {
        let version: FileVersion
        let damage: Damage
    }

    private let marks = Mutex<[CacheKey: Mark]>([:])

    /// Their names; some may be another file's by now.
    var keys: [CacheKey] { marks.withLock { Array($0.keys) } }

    /// From now on the file under the name of `key` is none, as long as it is this one.
    func insert(_ key: CacheKey, _ status: stat, _ damage: Damage) {
        marks.withLock { $0[key] = Mark(version: FileVersion(status), damage: damage) }
    }

    func contains(_ key: CacheKey) -> Bool { marks.withLock { $0[key] != nil } }

    /// Why what lies under the name of `key` is no entry; `nil` if it is not disowned.
    func damage(of key: CacheKey, seenAs status: stat) -> Damage? {
        marks.withLock { marks in
            // Another file may have been seen before the mark was made: it stays.
            guard let mark = marks[key], mark.version == FileVersion(status) else { return nil }
            return mark.damage
        }
    }

    func remove(_ key: CacheKey) {
        marks.withLock { _ = $0.removeValue(forKey: key) }
    }
}

/// A file and what it holds, as far as that is told without reading it. Its ctime tells nothing: every use
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
