import CacheWire
import Foundation
import TestSupport
import Testing

private let generator = "/usr/bin/varlink-go-interface-generator"

/// A parser of interface descriptions that nobody here has written: that of Varlink's Go package. The
/// Python package's is tested with its client.
@Suite("Foreign parsers", .timeLimit(.minutes(5)))
struct ThirdPartyParserTests {
    @Test(.enabled(if: access(generator, X_OK) == 0, "needs Debian's package varlink-go"))
    func theGoParserAcceptsTheDescription() async throws {
        try await withTestScope { scope in
            // It knows no capitals in the name of an interface, which varlink.org allows; the name is
            // the only thing changed.
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
