/// A call (varlink.org, "Method Call").
public struct Call<Parameters: Codable & Sendable & Hashable>: Codable, Sendable, Hashable {
    /// The full name, as in ``MethodName``.
    public var method: String
    /// Absent means the same as an empty object.
    public var parameters: Parameters?
    /// The caller wants no reply.
    public var oneway: Bool?
    /// The caller takes more than one reply.
    public var more: Bool?
    /// The caller wants to speak another protocol from here on; nothing here does.
    public var upgrade: Bool?

    public init(
        _ method: MethodName, parameters: Parameters?, oneway: Bool? = nil, more: Bool? = nil
    ) {
        self.method = method.rawValue
        self.parameters = parameters
        self.oneway = oneway
        self.more = more
    }
}
