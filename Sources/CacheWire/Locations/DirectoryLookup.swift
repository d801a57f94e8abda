/// Finds the cache directory.
public enum DirectoryLookup {
    /// Returns the first of these that is set: the flag, `$CACHE_DIRECTORY` (which a service
    /// manager sets), `$XDG_CACHE_HOME/cached`, `~/.cache/cached`.
    ///
    /// - Parameters:
    ///   - flag: the value of `--directory`.
    ///   - environment: the result of ``Environment/current()``.
    /// - Returns: the directory; `nil` if none is set, not even `$HOME`.
    public static func path(flag: String?, environment: [String: String]) -> String? {
        flag
            ?? environment.nonEmpty("CACHE_DIRECTORY")
            ?? environment.absolute("XDG_CACHE_HOME").map { "\($0)/cached" }
            ?? environment.nonEmpty("HOME").map { "\($0)/.cache/cached" }
    }
}
