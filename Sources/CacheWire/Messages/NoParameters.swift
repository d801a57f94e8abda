/// Empty parameters, for methods that take none and for replies that carry only an error.
public struct NoParameters: WireValue {
    public init() {}

    public init(from decoder: any Decoder) throws {
        _ = try decoder.members(NoMembers.self)
    }

    public func write(to json: inout JSONText) {
        json.object { _ in }
    }

    private enum NoMembers: CodingKey, CaseIterable {}
}
