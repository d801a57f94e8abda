/// How downloads and callers use the files of a key.
package enum FileUse: Sendable {
    /// Not at all.
    case none
    /// There is no download. A caller was given the entry and has not been told of it yet.
    case given
    /// The download waits, so it can start over.
    case waiting
    /// The download writes the files, or is about to continue them.
    case running

    var isDownload: Bool { self == .waiting || self == .running }
}
