/// How far the index can be trusted.
package enum IndexValidity: Sendable {
    /// The first scan is running. Every entry in the index exists, but the directory can hold
    /// entries that are not in the index yet.
    case loading
    /// The directory has been read and is watched.
    case complete
    /// Changes were lost, or the directory cannot be watched: every name has to be probed.
    case stale
}
