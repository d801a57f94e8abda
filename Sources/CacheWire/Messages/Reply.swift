/// A reply (varlink.org, "Method Reply"): parameters or an error.
public struct Reply<Parameters: Codable & Sendable & Hashable>: Sendable, Hashable {
    /// The result of the method; absent if there is an error.
    public var parameters: Parameters?
    /// Whether further replies to the same call follow.
    public var continues: Bool?
    /// Why the call failed.
    public var error: WireError?

    public init(_ parameters: Parameters, continues: Bool? = nil) {
        self.parameters = parameters
        self.continues = continues
    }

    public init(error: WireError) {
        self.error = error
    }
}

extension Reply: Codable {
    private enum CodingKeys: String, CodingKey {
        case parameters, continues, error
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        continues = try container.decodeIfPresent(Bool.self, forKey: .continues)
        if try container.decodeIfPresent(String.self, forKey: .error) != nil {
            error = try WireError(from: decoder)
        } else {
            parameters = try container.decodeIfPresent(Parameters.self, forKey: .parameters)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        if let error {
            try error.encode(to: encoder)
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(parameters, forKey: .parameters)
        try container.encodeIfPresent(continues, forKey: .continues)
    }
}
