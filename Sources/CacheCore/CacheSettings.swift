public import Glibc

/// What a cache is made with.
public struct CacheSettings: Sendable {
    /// Absolute path of the cache directory; made where it is missing.
    public var directory: String
    /// Permission bits of a directory that has to be made.
    public var directoryMode: mode_t
    public var transfers: TransferSettings

    public init(
        directory: String, directoryMode: mode_t = 0o700,
        transfers: TransferSettings = TransferSettings()
    ) {
        self.directory = directory
        self.directoryMode = directoryMode
        self.transfers = transfers
    }
}
