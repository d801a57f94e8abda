import CachedClient
import Foundation
import TestSupport
import Testing

/// The states of `Tests/Vectors`, as the library reads them from the directory.
@Suite(.timeLimit(.minutes(2))) struct FolderVectorTests {
    private struct Vector: Decodable {
        struct Answer: Decodable {
            var state: String?
            var received: Int64?
            var total: Int64?
            var size: Int64?
            var error: String?
        }

        var name: String
        var url: String
        var answer: Answer
    }

    private static let vectors = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../../Vectors").standardized
        .path(percentEncoded: false)

    @Test func everyStateOfTheDirectoryIsRead() async throws {
        let file = Data(try contents(of: Self.vectors + "/states.json"))
        let vectors = try JSONDecoder().decode([Vector].self, from: file)
        try await withTestScope { scope in
            let root = try TemporaryDirectory(in: scope)
            // The maker holds locks until its input ends.
            let input = try FIFO(in: scope)
            let maker = try ChildProcess(
                "sh",
                [
                    "-c", #"exec "$1" "$2" < "$0""#, input.path, Self.vectors + "/folders",
                    root.path,
                ],
                in: scope)
            let line = try await maker.waitForLine(containing: "[", on: .standardOutput)
            let numbers = try JSONDecoder().decode([Int].self, from: Data(line.utf8))
            #expect(numbers.count >= 40)
            for number in numbers {
                let vector = vectors[number]
                let cache = ImageCache(.init(directory: root.file("\(number)")))
                switch (cache.peek(vector.url), vector.answer.state) {
                case (.missing, "missing"): continue
                case (.inFlight(let progress), "inFlight"):
                    #expect(progress.received == vector.answer.received, "\(vector.name)")
                    #expect(progress.total == vector.answer.total, "\(vector.name)")
                case (.cached(let file), "cached"):
                    #expect(file.size == vector.answer.size, "\(vector.name)")
                    #expect(file.path.hasPrefix(root.file("\(number)/")), "\(vector.name)")
                case (.failed(let failure), nil):
                    #expect("\(failure.kind)" == vector.answer.error, "\(vector.name)")
                case (let state, _): Issue.record("\(vector.name): \(state)")
                }
            }
        }
    }
}
