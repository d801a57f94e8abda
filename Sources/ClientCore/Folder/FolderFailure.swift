/// The reason why the directory cannot be read. The daemon can still be asked, because it knows its own directory.
public enum FolderFailure: Error {
    case isLink
    case isNoDirectory
    case isUnreachable
    /// The directory belongs to another person, whose files are not trusted.
    case isForeign
    /// This process may not read the directory.
    case isClosed

    /// A word for programs, the same in all client libraries.
    public var kind: StaticString {
        switch self {
        case .isLink, .isNoDirectory, .isUnreachable: "storage"
        case .isForeign, .isClosed: "notPermitted"
        }
    }

    /// A sentence for people.
    public var message: StaticString {
        switch self {
        case .isLink:
            "the cache directory is a symbolic link; name the directory it leads to"
        case .isNoDirectory: "the cache directory is a file; name a directory"
        case .isUnreachable: "cannot look at the cache directory; check its path"
        case .isForeign: "the cache directory belongs to another user; name one of your own"
        case .isClosed: "may not look into the cache directory; ask the daemon"
        }
    }
}
