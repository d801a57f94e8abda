/// A user and a password for a proxy.
public struct ProxyLogin: Sendable, Hashable {
    public let user: String
    public let password: String

    public init(user: String, password: String) {
        (self.user, self.password) = (user, password)
    }
}
