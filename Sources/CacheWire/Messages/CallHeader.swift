/// The part of a call that says what its parameters are; decodable without knowing them.
public struct CallHeader: Codable, Sendable, Hashable {
    /// The full name, as in ``MethodName``.
    public var method: String
    /// The caller wants no reply.
    public var oneway: Bool?
    /// The caller takes more than one reply.
    public var more: Bool?
    /// The caller wants to speak another protocol from here on; nothing here does.
    public var upgrade: Bool?

    public init(
        method: String, oneway: Bool? = nil, more: Bool? = nil, upgrade: Bool? = nil
    ) {
        self.method = method
        self.oneway = oneway
        self.more = more
        self.upgrade = upgrade
    }
}
