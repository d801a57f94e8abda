import Glibc

/// The images that a command imports: URLs, and the paths of their files.
struct ImportList: Equatable {
    struct Image: Equatable {
        let url: String
        let path: String
    }

    private(set) var images: [Image] = []

    /// - Parameter arguments: URLs and files, alternately.
    init(arguments: [String]) throws(CommandFailure) {
        guard arguments.count.isMultiple(of: 2) else {
            throw CommandFailure(
                status: .usage,
                message:
                    "import takes a URL and its file, alternately, but the last one has no file")
        }
        for index in stride(from: 0, to: arguments.count, by: 2) {
            images.append(Image(url: arguments[index], path: arguments[index + 1]))
        }
    }

    /// - Parameter lines: an image a line: its URL, a tab, and the path of its file. Empty lines, and those that begin
    ///   with `#`, are skipped.
    init(lines: [UInt8]) throws(CommandFailure) {
        let all = lines.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in all.enumerated() {
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            let fields = line.split(separator: UInt8(ascii: "\t"), maxSplits: 1)
                .map { String(validating: $0, as: UTF8.self) }
            guard fields.count == 2, let url = fields[0], let path = fields[1] else {
                throw CommandFailure(
                    status: .usage,
                    message:
                        "line \(index + 1) of standard input is not a URL, a tab, and a path in UTF-8"
                )
            }
            images.append(Image(url: url, path: path))
        }
    }

    static func read() throws -> ImportList {
        try ImportList(lines: FileBytes.read(STDIN_FILENO, name: "standard input"))
    }
}
