/// A method of the daemon, with the types of its parameters and its reply.
public protocol Method {
    associatedtype Parameters: WireValue
    associatedtype Reply: WireValue

    /// The value of a call's `method` field.
    static var name: MethodName { get }
}
