internal import CacheKey
import CacheValues
import Glibc

/// The file under the name of an entry, opened, so that no other file can be mistaken for it.
final class OpenedEntry: Sendable {
    let key: CacheKey
    /// An entry is open for reading. Anything else is only referred to. open(2), `O_PATH`.
    let descriptor: Int32
    /// The damage that shows without reading the file.
    let damage: Damage?
    let isPinned: Bool

    init(key: CacheKey, descriptor: Int32, damage: Damage? = nil, isPinned: Bool) {
        self.key = key
        self.descriptor = descriptor
        self.damage = damage
        self.isPinned = isPinned
    }

    deinit {
        close(descriptor)
    }
}
