/// A method of the daemon: its name, what it takes and what it answers.
public protocol Method {
    associatedtype Parameters: Codable, Sendable, Hashable
    associatedtype Reply: Codable, Sendable, Hashable

    /// What a call puts into its `method` field.
    static var name: MethodName { get }
}
