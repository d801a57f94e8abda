/// A failed system call while a stub was created.
public struct StubError: Error {
    public let call: String
    public let number: Int32
}
