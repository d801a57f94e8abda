/// A method of the daemon, with the types of its parameters and its reply.
public protocol Method {
    associatedtype Parameters: Codable, Sendable, Hashable
    associatedtype Reply: Codable, Sendable, Hashable

    /// The value of a call's `method` field.
    static var name: MethodName { get }
}
