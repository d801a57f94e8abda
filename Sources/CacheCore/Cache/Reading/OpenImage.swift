import CacheFetching
public import CacheValues
import Glibc

/// The file of a cached image, open for reading. It keeps its bytes even if its name is removed or replaced.
public final class OpenImage: Sendable {
    public let facts: EntryFacts
    /// Closed with the object.
    public let descriptor: Int32

    init(facts: EntryFacts, descriptor: Int32) {
        (self.facts, self.descriptor) = (facts, descriptor)
    }

    deinit {
        close(descriptor)
    }
}
