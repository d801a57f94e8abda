import TestSupport

/// A running `cached-gallery`.
struct GalleryProgram: Sendable {
    let process: ChildProcess
    /// The address of the page, which contains the secret.
    let address: String

    init(_ daemon: DaemonFixture, in scope: TestScope) async throws {
        process = try ChildProcess(
            BuiltProducts.program("cached-gallery"),
            ["--no-browser", "--socket", daemon.socket], in: scope)
        let line = try await process.waitForLine(containing: "http://", on: .standardOutput)
        guard let start = line.firstRange(of: "http://")?.lowerBound else {
            throw TestFailure("no address in: \(line)")
        }
        address = String(line[start...].prefix { !$0.isWhitespace })
    }
}
