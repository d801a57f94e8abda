/// The version both programs print, and the service answers to `GetInfo`.
public enum Version {
    /// Follows semantic versioning (semver.org); the changelog has a section for each.
    public static let current = "0.1.0"
}
