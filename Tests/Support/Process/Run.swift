/// Runs a program to its end; kills it if it takes longer than `limit`.
///
///     let output = try await run("sha256sum", ["-"], input: bytes)
///     #expect(output.status == .success)
///
/// - Throws: `TestFailure` if the program cannot be started or is too slow. A nonzero exit code is not an
///   error.
@discardableResult
public func run(
    _ executable: String,
    _ arguments: [String] = [],
    environment: [String: String] = minimalEnvironment(),
    input: [UInt8] = [],
    standardError: ChildProcess.ErrorSink = .pipe,
    within limit: Duration = .patience
) async throws -> ProcessOutput {
    try await withTestScope { scope in
        let child = try ChildProcess(
            executable, arguments, environment: environment, input: input,
            standardError: standardError, in: scope)
        let status = try await child.waitForExit(within: limit)
        return ProcessOutput(
            status: status,
            standardOutput: child.bytes(.standardOutput),
            standardError: child.bytes(.standardError))
    }
}

/// Runs a program that must succeed, and returns its output.
@discardableResult
public func runSuccessfully(
    _ executable: String, _ arguments: [String] = [], input: [UInt8] = []
) async throws -> String {
    let output = try await run(executable, arguments, input: input)
    guard output.status == .success else {
        let command = ([executable] + arguments).joined(separator: " ")
        throw TestFailure("\(command): \(output.status)\n\(output.errorText)")
    }
    return output.text
}
