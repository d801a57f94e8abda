/// The parameters of a reply that carries an error and nothing else.
public struct NoParameters: Codable, Sendable, Hashable {
    public init() {}
}
