/// A reply (varlink.org, "Method Reply"): parameters or an error.
public struct Reply<Parameters: WireValue>: Sendable, Hashable {
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

extension Reply: WireValue {
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

    public func write(to json: inout JSONText) {
        json.object { json in
            error?.writeMembers(to: &json)
            json.member("parameters", parameters)
            json.member("continues", continues)
        }
    }
}
