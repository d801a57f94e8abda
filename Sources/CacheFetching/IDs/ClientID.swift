public import CacheValues

/// Identifies a client. Transfer slots are shared fairly between users, and the clients of one user
/// take turns.
public struct ClientID: Hashable, Sendable {
    package let rawValue: UInt64
    /// The user who runs the client.
    public let user: UserID

    public init(rawValue: UInt64, user: UserID = .daemon) {
        (self.rawValue, self.user) = (rawValue, user)
    }

    /// The daemon itself, and all code within its process.
    public static let daemon = ClientID(rawValue: 0)
}
