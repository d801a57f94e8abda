/// A user of the machine. Everything that is scarce is shared fairly between users: however many
/// connections a user has, they count as one.
public struct UserID: Hashable, Sendable {
    /// The number of the user. credentials(7)
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The daemon itself, and all code within its process. No user has this number. setreuid(2)
    public static let daemon = UserID(rawValue: .max)
}
