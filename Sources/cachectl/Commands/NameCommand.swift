import ArgumentParser
import CacheKey
import CacheWire

/// `cachectl name`
struct NameCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "name",
        abstract: "Compute the file names of URLs, without a daemon.",
        discussion: """
            The name is the UUIDv5 of the URL's bytes in the URL namespace. Programs in any \
            language can compute the same name.

            Example: cachectl name --path https://example.com/a.png
            """)

    @Flag(help: "Print the full path of the file.")
    var path = false

    @Option(
        help: ArgumentHelp(
            "The cache directory, for --path.",
            discussion: """
                Default: $CACHE_DIRECTORY, else $XDG_CACHE_HOME/cached, else ~/.cache/cached.
                """,
            valueName: "path"))
    var directory: String?

    @OptionGroup var arguments: URLArguments

    func run() throws {
        let prefix = path ? try resolvedDirectory() + "/" : ""
        var output = Output()
        let given = try arguments.read()
        var status = given.reportInvalidLines() ? ExitStatus.invalidURL : .success
        for url in given.urls {
            do {
                try output.line("\(prefix)\(CacheKey(try CacheURL(url)))")
            } catch let error as InvalidURL {
                try output.flush()
                StandardError.report(url, "\(error)")
                status = .invalidURL
            }
        }
        try output.flush()
        throw status.error
    }

    private func resolvedDirectory() throws -> String {
        let environment = try Environment.current()
        guard let path = DirectoryLookup.path(flag: directory, environment: environment) else {
            throw CommandFailure(
                status: .usage,
                message: "HOME is not set: name the cache directory with --directory")
        }
        return path
    }
}
