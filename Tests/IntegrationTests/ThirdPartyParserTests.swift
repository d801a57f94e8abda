import CacheWire
import Foundation
import TestSupport
import Testing

private let generator = "/usr/bin/varlink-go-interface-generator"

/// A parser of interface descriptions written by others: that of Varlink's Go package. The parser of the
/// Python package is tested with its client.
@Suite("Third-party parsers", .timeLimit(.minutes(5)))
struct ThirdPartyParserTests {
    @Test(.enabled(if: access(generator, X_OK) == 0, "needs Debian's package varlink-go"))
    func theGoParserAcceptsTheDescription() async throws {
        try await withTestScope { scope in
            // This parser rejects capitals in the name of an interface, which varlink.org allows. Only
            // the name is changed.
            let text = InterfaceDescription.cache.replacingOccurrences(
                of: "interface io.cached.Cache", with: "interface io.cached.cache")
            #expect(text != InterfaceDescription.cache)
            let directory = try TemporaryDirectory(in: scope)
            let file = try directory.write(text, to: "io.cached.varlink")
            let output = try await run(generator, [file])
            #expect(output.status == .success, "\(output.errorText)")
            #expect(try directory.names().contains { $0.hasSuffix(".go") })
        }
    }
}
