import CacheValues
import Glibc
import Logging
import TestSupport
import Testing

@testable import cached

/// Header fields that the user sets for some origins.
@Suite("Header files", .timeLimit(.minutes(5)))
struct HeaderDirectoryTests {
    private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    private func fields(_ directory: HeaderDirectory, _ origin: String) -> [String] {
        directory.fields(for: origin).map { "\($0.name): \($0.value)" }
    }

    @Test func eachOriginHasItsOwnFields() async throws {
        try await withDirectory { directory in
            try directory.write(
                """
                # Matrix
                [https://Matrix.example.org:443]
                Authorization: Bearer a b
                Accept-Language:de

                [http://127.0.0.1:8000/]
                Referer: https://example.org/
                """, to: "one")
            try directory.write("nonsense", to: "one~")
            let headers = try HeaderDirectory(directory.path, logger: logger)
            #expect(
                fields(headers, "https://matrix.example.org")
                    == ["Authorization: Bearer a b", "Accept-Language: de"])
            #expect(fields(headers, "http://127.0.0.1:8000") == ["Referer: https://example.org/"])
            for other in [
                "http://matrix.example.org", "https://matrix.example.org:8443",
                "https://example.org",
            ] {
                #expect(fields(headers, other) == [])
            }
        }
    }

    @Test func aPatternIsForTheHostsOfItsForm() async throws {
        try await withDirectory { directory in
            try directory.write(
                """
                [https://*.example.net]
                X: short
                [https://img*.cdn.example.net]
                X: long
                [https://*.example.net:8443]
                X: port
                [https://b.example.net]
                Cookie: c=d
                """, to: "one")
            let headers = try HeaderDirectory(directory.path, logger: logger)
            for (origin, value) in [
                ("https://a.example.net", ["X: short"]),
                ("https://img7.cdn.example.net", ["X: long"]),
                ("https://a.example.net:8443", ["X: port"]),
                ("https://b.example.net", ["Cookie: c=d"]),
                ("https://a.b.example.net", []), ("https://example.net", []),
                ("http://a.example.net", []), ("https://a.example.net:8444", []),
                ("https://a.example.org", []),
            ] {
                #expect(fields(headers, origin) == value, "\(origin)")
            }
        }
    }

    @Test func twoFilesForOneOriginAreAnError() async throws {
        try await withDirectory { directory in
            try directory.write("[https://a.example]\nCookie: c=d\n", to: "one")
            try directory.write("[https://A.example:443]\nCookie: e=f\n", to: "two")
            let error = #expect(throws: StartFailure.self) {
                try HeaderDirectory(directory.path, logger: logger)
            }
            #expect(error?.message.contains("one and two both name https://a.example") == true)
        }
    }

    @Test func aMissingDirectoryHasNoFields() throws {
        let headers = try HeaderDirectory("/nonexistent/headers.d", logger: logger)
        #expect(fields(headers, "https://a") == [])
    }

    @Test(arguments: [
        ("Cookie: a", "comes before any section"), ("[https://a/b]", "a section is an origin"),
        ("[ftp://a]", "a section is an origin"), ("[https://a]\nsecret", "is not a header field"),
        ("[https://a]\nX: ", "is not a header field"),
        ("[https://bücher.example]", "in its ASCII form"),
        ("[https://a]\nRange: bytes=0-1", "the daemon itself sets Range"),
        ("[https://a]\nHOST: b", "the daemon itself sets HOST"),
        ("[https://*]", "not all hosts"), ("[https://*.*]", "not all hosts"),
        ("[https://*..a]", "hosts of one form"),
        ("[https://*.a]\nCookie: secret", "Cookie is for one origin"),
        ("[https://*.a]\nAUTHORIZATION: secret", "AUTHORIZATION is for one origin"),
    ])
    func aWrongLineIsAnErrorThatShowsNoSecret(text: String, problem: String) async throws {
        try await withDirectory { directory in
            let path = try directory.write(text, to: "wrong")
            let failure = #expect(throws: StartFailure.self) {
                try HeaderDirectory(directory.path, logger: logger)
            }
            let message = try #require(failure?.message)
            #expect(message.hasPrefix("\(path):\(text.split(separator: "\n").count): "))
            #expect(message.contains(problem))
            #expect(!message.contains("secret"))
        }
    }

    @Test func aFileThatOthersCanReadIsWarnedOf() async throws {
        try await withDirectory { directory in
            let path = try directory.write("[https://a]\nX: y\n", to: "open")
            for (mode, isSafe) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false)] {
                try #require(chmod(path, mode_t(mode)) == 0)
                #expect((try HeaderFile(path).warning == nil) == isSafe)
            }
        }
    }

    @Test func changedFilesAreReadAgainAndMistakesChangeNothing() async throws {
        try await withTestScope { scope in
            let directory = try TemporaryDirectory(in: scope)
            try directory.write("[https://a]\nX: 1\n", to: "x")
            let headers = try HeaderDirectory(directory.path, interval: .zero, logger: logger)
            try directory.write("[https://a]\nX: 22\n", to: "x")
            #expect(fields(headers, "https://a") == ["X: 22"])
            try directory.write("[https://a]\nHost: a\n", to: "x")
            try directory.write("[https://b]\nX: 3\n", to: "y")
            #expect(fields(headers, "https://a") == ["X: 22"])
            #expect(fields(headers, "https://b") == [])
            try directory.write("", to: "x")
            #expect(fields(headers, "https://b") == ["X: 3"])
            #expect(fields(headers, "https://a") == [])
        }
    }

    private func withDirectory(
        _ body: @Sendable (TemporaryDirectory) throws -> Void
    ) async throws {
        try await withTestScope { scope in try body(try TemporaryDirectory(in: scope)) }
    }
}
