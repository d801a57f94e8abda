/// The result of a program that has ended.
public struct ProcessOutput: Sendable {
    public let status: ExitStatus
    public let standardOutput: [UInt8]
    public let standardError: [UInt8]

    /// The standard output as text.
    public var text: String { String(decoding: standardOutput, as: UTF8.self) }
    /// The standard error output as text.
    public var errorText: String { String(decoding: standardError, as: UTF8.self) }
    /// The lines of the standard output.
    public var lines: [String] {
        text.split(separator: "\n").map(String.init)
    }
}
