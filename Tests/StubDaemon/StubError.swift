/// Why there is no stub.
public struct StubError: Error {
    public let call: String
    public let number: Int32
}
