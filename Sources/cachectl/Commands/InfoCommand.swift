import ArgumentParser
import CacheWire
import Glibc

/// `cachectl info`
struct InfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Print all known facts about images, one a line.",
        discussion: """
            The daemon is asked about a URL. The record of a file in a cache directory is read \
            without a daemon: an argument is a path if it has a slash but no "://", or if it is \
            the name of an image in the current directory.

            Exit status: 1 a file has no record, or does not agree with it.

            Example: cachectl info https://example.com/a.png
            Example: cachectl info ~/.cache/cached/64ae7d25-968a-53ee-bd6c-4b6d330d180a
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    @Argument(
        help: ArgumentHelp(
            "URLs; or keys, or paths of files in a cache directory; - reads URLs from standard input.",
            valueName: "url, key or path"),
        completion: .cachedURLs)
    var images: [String]

    func run() throws {
        let paths = images.filter(StoredFile.isPath)
        guard paths.count < images.count else { return try printFiles() }
        guard paths.isEmpty else {
            throw CommandFailure(
                status: .usage,
                message: "\(paths[0]) is a key or a path: ask about files and URLs apart")
        }
        try printItems()
    }

    // MARK: URLs

    private func printItems() throws {
        let client = try socket.connect()
        let urls = try URLArguments.read(images)
        var output = Output()
        var tally = ExitTally()
        var isFirst = true
        try urls.callInBatches { batch in
            try client.call(Methods.Status.self, .init(urls: batch, details: true)).items
        } handle: { items in
            for item in items {
                tally.count(item)
                try print(item, item.fieldLines, isFirst: &isFirst, to: &output)
            }
        }
        try output.flush()
        throw tally.status.error
    }

    // MARK: Files

    private func printFiles() throws {
        var output = Output()
        var status = ExitStatus.success
        var isFirst = true
        var directory: String?
        for image in images {
            let path = try Self.path(of: image, in: &directory, socket: socket.socket)
            do {
                let record = try StoredRecord(of: StoredFile(path: path))
                try print(record.json, record.lines, isFirst: &isFirst, to: &output)
                if let problem = record.problem { throw CommandFailure.unreadable(path, problem) }
            } catch let failure as CommandFailure {
                try output.flush()
                StandardError.report(failure.message)
                if status != .inputOutput { status = failure.status }
            }
        }
        try output.flush()
        throw status.error
    }

    /// A key that is not the name of a file in the current directory is looked for in the cache directory. access(2).
    private static func path(
        of image: String, in directory: inout String?, socket: String?
    ) throws -> String {
        guard !image.contains("/"), access(image, F_OK) != 0 else { return image }
        let found = try directory ?? DirectorySearch(socket: socket).directory()
        directory = found
        return "\(found)/\(image)"
    }

    /// Prints a line of JSON, or the lines of an image after an empty line that ends those of the image before.
    private func print(
        _ json: some JSONWritable, _ lines: [String], isFirst: inout Bool, to output: inout Output
    ) throws {
        guard !format.json else { return try output.json(json) }
        if !isFirst { try output.line("") }
        isFirst = false
        try lines.forEach { try output.line($0) }
    }
}
