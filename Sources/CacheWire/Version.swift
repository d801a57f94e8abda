/// The version that both programs print and `GetInfo` returns.
public enum Version {
    /// Follows semantic versioning (semver.org). The changelog has a section for each version.
    public static let current = "0.1.0"
}
