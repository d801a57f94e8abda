public import CacheValues

/// Identifies a client. Transfer slots are shared fairly between users, and the clients of one user
/// take turns.
public struct ClientID: Hashable, Sendable {
    package let rawValue: UInt64
    /// The user who runs the client.
    public let user: UserID
    /// Whether it is a program in a sandbox.
    public let isGuest: Bool

    public init(rawValue: UInt64, user: UserID = .daemon, isGuest: Bool = false) {
        (self.rawValue, self.user, self.isGuest) = (rawValue, user, isGuest)
    }

    /// The daemon itself, and all code within its process.
    public static let daemon = ClientID(rawValue: 0)
}
