/// Why a directory says nothing about an image. The daemon, which has its own directory, can still be asked.
public enum FolderFailure: Error {
    case isLink
    case isNoDirectory
    case isUnreachable
    /// It belongs to another person, whose files are not believed.
    case isForeign
    /// This process may not look into it.
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
