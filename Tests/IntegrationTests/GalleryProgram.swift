import TestSupport

/// A running `cached-gallery`.
struct GalleryProgram: Sendable {
    let process: ChildProcess
    /// The address of the page, which contains the secret.
    let address: String

    /// - Parameters:
    ///   - launcher: the words that start it as another user, for example.
    ///   - program: another file than the one that was built.
    init(
        _ daemon: DaemonFixture, launcher: [String] = [], program: String? = nil,
        environment: [String: String] = [:], in scope: TestScope
    ) async throws {
        let words =
            try launcher + [program ?? BuiltProducts.program("cached-gallery")]
            + ["--no-browser", "--socket", daemon.socket]
        process = try ChildProcess(
            words[0], Array(words.dropFirst()), environment: minimalEnvironment(environment),
            in: scope)
        let line = try await process.waitForLine(containing: "http://", on: .standardOutput)
        guard let start = line.firstRange(of: "http://")?.lowerBound else {
            throw TestFailure("no address in: \(line)")
        }
        address = String(line[start...].prefix { !$0.isWhitespace })
    }
}
