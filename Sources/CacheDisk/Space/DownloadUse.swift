/// How a download uses the files of a key.
package enum DownloadUse: Sendable {
    /// There is no download.
    case none
    /// The download waits, so it can start over.
    case waiting
    /// The download writes the files, or is about to continue them.
    case running
}
