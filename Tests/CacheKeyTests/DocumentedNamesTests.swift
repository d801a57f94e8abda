import CacheKey
import Foundation
import Testing

/// `docs/lookup/file-names.md` shows the name of a file in one line of several languages; these run the lines.
@Suite(.timeLimit(.minutes(5))) struct DocumentedNamesTests {
    @Test func theLinesOfThePagePrintTheNameItPromises() throws {
        let page = try Self.page()
        let promised = try #require(page.firstMatch(of: /prints `([0-9a-f-]{36})`/)).1
        let lines = page.matches(of: /```sh\n(.*)\n```/).map { String($0.1) }
        let assignment = try #require(lines.first)
        let url = try #require(assignment.wholeMatch(of: /URL='(.*)'/)).1
        #expect(CacheKey(try CacheURL(String(url))).description == promised)
        #expect(lines.count == 7)
        for line in lines.dropFirst() where Self.isInstalled(line) {
            #expect(try Self.output(of: "\(assignment)\n\(line)") == promised, "\(line)")
        }
    }

    private static func page() throws -> String {
        let file = URL(filePath: #filePath).appending(path: "../../../docs/lookup/file-names.md")
        return try String(contentsOf: file.standardized, encoding: .utf8)
    }

    private static func isInstalled(_ line: String) -> Bool {
        let program = String(line.prefix { $0 != " " })
        return OtherLanguage(name: program, command: [program]).interpreter != nil
    }

    /// The output of a shell script, without the newline at its end.
    private static func output(of script: String) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", script]
        process.standardOutput = output
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}
