/// Empty parameters, for methods that take none and for replies that carry only an error.
public struct NoParameters: Codable, Sendable, Hashable {
    public init() {}
}
