internal import CacheKey
internal import Synchronization

/// The attributes that files of entries still lack. Images are published with their records alone, because further
/// attributes take most of the time that a small image costs; and records change when origins confirm entries.
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
    private let confirmations = Mutex<[CacheKey: UnwrittenConfirmation]>([:])

    subscript(key: CacheKey) -> Member? { members.withLock { $0[key] } }

    var keys: [CacheKey] {
        members.withLock { Array($0.keys) } + confirmations.withLock { Array($0.keys) }
    }

    /// Replaces the member of a key. Returns `false` if there are too many.
    func insert(_ key: CacheKey, _ member: Member) -> Bool {
        members.withLock { members in
            members[key] = member
            return members.count <= Self.limit
        }
    }

    /// - Parameter file: the file that has its attributes now.
    func remove(_ key: CacheKey, of file: CacheDirectory.Identity) {
        members.withLock { members in
            if members[key]?.file == file { members[key] = nil }
        }
    }

    /// The name of a key leads to no file any more, or to another one.
    func forget(_ key: CacheKey) {
        members.withLock { $0[key] = nil }
        confirmations.withLock { $0[key] = nil }
    }

    func removeAll() {
        members.withLock { $0 = [:] }
        confirmations.withLock { $0 = [:] }
    }

    // MARK: Confirmations

    /// Whether there is room for another confirmation.
    var mayConfirm: Bool { confirmations.withLock { $0.count < Self.limit } }

    func confirmation(of key: CacheKey) -> UnwrittenConfirmation? {
        confirmations.withLock { $0.isEmpty ? nil : $0[key] }
    }

    func insert(_ key: CacheKey, _ confirmation: UnwrittenConfirmation) {
        confirmations.withLock { confirmations in
            var new = confirmation
            // The file has still what the earlier one was about.
            if let former = confirmations[key] { new.asked = former.asked }
            confirmations[key] = new
        }
    }

    /// A confirmation was written, or never will be.
    func remove(_ key: CacheKey, _ confirmation: UnwrittenConfirmation) {
        confirmations.withLock { confirmations in
            if confirmations[key]?.record == confirmation.record { confirmations[key] = nil }
        }
    }
}
