/// A call (varlink.org, "Method Call").
public struct Call<Parameters: WireValue>: WireValue {
    /// The full name; see ``MethodName``.
    public var method: String
    /// An absent value is the same as an empty object.
    public var parameters: Parameters?
    /// Whether the caller wants no reply.
    public var oneway: Bool?
    /// Whether the caller accepts more than one reply.
    public var more: Bool?
    /// Whether the caller asks to change to another protocol. No method here supports this.
    public var upgrade: Bool?

    public init(
        _ method: MethodName, parameters: Parameters?, oneway: Bool? = nil, more: Bool? = nil
    ) {
        self.method = method.rawValue
        self.parameters = parameters
        self.oneway = oneway
        self.more = more
    }
    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("method", method)
            json.member("parameters", parameters)
            json.member("oneway", oneway)
            json.member("more", more)
            json.member("upgrade", upgrade)
        }
    }
}
