extension Failure {
    /// The kind for a URL that the cache does not accept. There was no attempt.
    public static let invalidURL = "invalidURL"
}
