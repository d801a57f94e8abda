/// How far the index may be believed.
package enum IndexValidity: Sendable {
    /// The first scan is running. An entry in the index exists; a key that is not in it may exist as well.
    case loading
    /// The directory has been read and is watched.
    case complete
    /// Changes were lost, or the directory cannot be watched: every name has to be probed.
    case stale
}
