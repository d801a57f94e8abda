import Foundation

/// A folder of the test's own, removed with its contents at the end.
final class TemporaryFolder {
    let path: String

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Makes a folder below this one and returns its path.
    func folder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(
            atPath: "\(path)/\(name)", withIntermediateDirectories: true)
        return "\(path)/\(name)"
    }

    /// Makes a file and returns its path.
    @discardableResult
    func file(_ name: String, _ text: String = "x") throws -> String {
        try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"))
        return "\(path)/\(name)"
    }

    /// The paths of everything below a folder, sorted.
    func contents(of name: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: "\(path)/\(name)").sorted()
    }
}
