package import CacheDisk
package import CacheFetching

/// The whole state of the cache, and all of its decisions. The state is pure: no I/O, no clock, no lock.
///
/// Each event is one function, named after the event. It appends the work and the notices that
/// follow from it to the effects. The owner calls it under a lock and carries the effects out.
///
///     CacheState           the seam: events at which an entry comes or goes
///     └─ FetchingState     the fetching half: downloads, callers, the store
///        └─ DiskState      the disk half: entries, partials, space
///
/// Each knows what lies below it and nothing above. An event that concerns one half alone is a function of that half.
package struct CacheState: ~Copyable, Sendable {
    package var fetching: FetchingState

    package init(_ fetching: consuming FetchingState) { self.fetching = fetching }

    package var disk: DiskState {
        _read { yield fetching.disk }
        _modify { yield &fetching.disk }
    }
}
