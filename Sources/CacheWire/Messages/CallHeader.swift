/// The part of a call that can be decoded without knowing the type of its parameters.
public struct CallHeader: Decodable, Sendable, Hashable {
    /// The full name; see ``MethodName``.
    public var method: String
    /// Whether the caller wants no reply.
    public var oneway: Bool?
    /// Whether the caller accepts more than one reply.
    public var more: Bool?
    /// Whether the caller asks to change to another protocol. No method here supports this.
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
