internal import CacheKey
import Glibc
internal import Synchronization

/// Files that look like entries but are none: damaged files whose record can't be removed, and files that were
/// not synced and can't be unlinked. It lasts until the daemon ends.
///
/// A file is recognised by its ``FileVersion``, so another file that takes its place is not in quarantine, nor is
/// the same file once it was written to.
final class Quarantine: Sendable {
    private struct Member {
        let version: FileVersion
        let damage: Damage
    }

    private let members = Mutex<[CacheKey: Member]>([:])

    /// The names of its files. Other files can have taken their places.
    var keys: [CacheKey] { members.withLock { Array($0.keys) } }

    func insert(_ key: CacheKey, _ status: stat, _ damage: Damage) {
        members.withLock { $0[key] = Member(version: FileVersion(status), damage: damage) }
    }

    func contains(_ key: CacheKey) -> Bool { members.withLock { $0[key] != nil } }

    /// Why the file under the name of `key` is no entry; `nil` if it is not in quarantine.
    func damage(of key: CacheKey, seenAs status: stat) -> Damage? {
        members.withLock { members in
            // A member with another version stays: the status can be older than the member.
            guard let member = members[key], member.version == FileVersion(status) else {
                return nil
            }
            return member.damage
        }
    }

    func remove(_ key: CacheKey) {
        members.withLock { _ = $0.removeValue(forKey: key) }
    }
}
