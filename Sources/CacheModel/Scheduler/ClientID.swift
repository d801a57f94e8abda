/// Identifies a client. Transfer slots are shared fairly between clients.
public struct ClientID: Hashable, Sendable {
    package let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The daemon itself, and all code within its process.
    public static let daemon = ClientID(rawValue: 0)
}
