/// Where the images are: the flag, else `$CACHE_DIRECTORY`, which a service manager sets, else
/// `$XDG_CACHE_HOME/cached`, else `~/.cache/cached`.
public enum DirectoryLookup {
    /// The directory, or `nil` when nothing tells, not even `$HOME`.
    public static func path(flag: String?, environment: [String: String]) -> String? {
        flag
            ?? environment.nonEmpty("CACHE_DIRECTORY")
            ?? environment.absolute("XDG_CACHE_HOME").map { "\($0)/cached" }
            ?? environment.nonEmpty("HOME").map { "\($0)/.cache/cached" }
    }
}
