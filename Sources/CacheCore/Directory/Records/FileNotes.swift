internal import CacheKey
import Glibc
internal import Synchronization

/// Notes about files under the names of entries, for facts that the files themselves do not hold. They last until the
/// daemon ends.
///
/// A file is recognised by its ``FileVersion``. So a note is not about another file that takes the file's place, nor
/// about the same file once it was written to.
final class FileNotes<Note: Sendable>: Sendable {
    private struct Member {
        let version: FileVersion
        let note: Note
    }

    private let members = Mutex<[CacheKey: Member]>([:])

    /// The note about the file under the name of `key`; `nil` if there is none.
    func note(of key: CacheKey, seenAs status: stat) -> Note? {
        members.withLock { members in
            // A member with another version stays: the status can be older than the member.
            guard let member = members[key], member.version == FileVersion(status) else {
                return nil
            }
            return member.note
        }
    }

    /// Replaces the note about a file, and returns the old one.
    @discardableResult
    func insert(_ key: CacheKey, _ status: stat, _ note: Note) -> Note? {
        let member = Member(version: FileVersion(status), note: note)
        return members.withLock { $0.updateValue(member, forKey: key)?.note }
    }

    @discardableResult
    func remove(_ key: CacheKey) -> Note? {
        members.withLock { $0.removeValue(forKey: key)?.note }
    }
}
