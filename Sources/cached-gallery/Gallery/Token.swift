/// The secret in the path of the page: 192 random bits.
struct Token {
    /// `/TOKEN/`
    let path: String

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// A new one, of the system's random numbers; 32 characters of base64url (RFC 4648 §5).
    init() {
        var source = SystemRandomNumberGenerator()
        let characters = (0..<32).map { _ in
            Self.alphabet[Int.random(in: 0..<64, using: &source)]
        }
        path = "/\(String(decoding: characters, as: UTF8.self))/"
    }

    /// The rest of a path that begins with the token; `nil` for any other path. The time reveals nothing of the
    /// token.
    func rest(of path: Substring) -> Substring? {
        let (mine, theirs) = (self.path.utf8, path.utf8.prefix(self.path.utf8.count))
        guard theirs.count == mine.count else { return nil }
        let difference = zip(mine, theirs).reduce(0) { $0 | ($1.0 ^ $1.1) }
        return difference == 0 ? path.dropFirst(self.path.utf8.count) : nil
    }
}
