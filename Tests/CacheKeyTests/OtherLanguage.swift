import Foundation

/// A program in another language that reads one URL a line and prints their names.
struct OtherLanguage: Sendable {
    let name: String
    /// The first word is the interpreter. `FILE` stands for the path of the program's file.
    let command: [String]
    /// The name and text of a source file, if the interpreter needs one.
    var file: (name: String, text: String)?
    /// The number of URLs for the test. It is smaller for a program that starts a process for each
    /// URL.
    var count = 1000

    var testDescription: String { name }

    /// The path of the interpreter; `nil` if it is not installed.
    var interpreter: URL? {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return folders.lazy.map { URL(filePath: "\($0)/\(command[0])") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Returns the names that the program prints for `urls`.
    func names(of urls: [String]) throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { removeReportingFailure(folder) }
        let input = folder.appending(path: "urls")
        try Data((urls.joined(separator: "\n") + "\n").utf8).write(to: input)
        if let file {
            try Data(file.text.utf8).write(to: folder.appending(path: file.name))
        }
        return try run(reading: input, in: folder)
    }

    private func run(reading input: URL, in folder: URL) throws -> [String] {
        let process = Process()
        let output = Pipe()
        process.executableURL = interpreter
        process.arguments = command.dropFirst().map { argument in
            argument.replacing("FILE", with: file.map { folder.path + "/" + $0.name } ?? "")
        }
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["GOCACHE": NSTemporaryDirectory() + "/cached-tests-go", "GOFLAGS": "-mod=mod"]
        ) { _, new in new }
        process.standardInput = try FileHandle(forReadingFrom: input)
        process.standardOutput = output
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func removeReportingFailure(_ folder: URL) {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            print("cannot remove \(folder.path): \(error)")
        }
    }
}
