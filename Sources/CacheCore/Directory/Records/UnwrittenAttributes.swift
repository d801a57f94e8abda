internal import CacheKey
internal import Synchronization

/// The attributes that files of entries still lack, because images are published with their records alone: further
/// attributes take most of the time that a small image costs.
///
/// ``CacheDirectory/writeAttributes(of:)`` writes them within ``Maintenance/interval`` and at the end of the daemon.
/// Until then they are read from here. If the daemon is killed before, ``EntryRecord/awaitsAttributes`` says so.
final class UnwrittenAttributes: Sendable {
    struct Member: Sendable {
        let file: CacheDirectory.Identity
        let attributes: FurtherAttributes
    }

    /// The most members. Further attributes are written at once.
    static let limit = 16_384

    private let members = Mutex<[CacheKey: Member]>([:])

    subscript(key: CacheKey) -> Member? { members.withLock { $0[key] } }

    var keys: [CacheKey] { members.withLock { Array($0.keys) } }

    /// Replaces the member of a key. Returns `false` if there are too many.
    func insert(_ key: CacheKey, _ member: Member) -> Bool {
        members.withLock { members in
            members[key] = member
            return members.count <= Self.limit
        }
    }

    /// - Parameter file: the file that has its attributes now. `nil` for any.
    func remove(_ key: CacheKey, of file: CacheDirectory.Identity? = nil) {
        members.withLock { members in
            if file == nil || members[key]?.file == file { members[key] = nil }
        }
    }

    func removeAll() { members.withLock { $0 = [:] } }
}
