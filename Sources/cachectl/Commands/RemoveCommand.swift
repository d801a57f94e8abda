import ArgumentParser
import CacheKey
import CacheWire

/// `cachectl remove`
struct RemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove images and cancel their downloads.",
        discussion: """
            The options that choose images are those of list, so a list shows what goes. They and --all \
            keep pinned images, and --all says how many; --as alone removes them too: log-out is one command. With --store, other \
            machines keep their images until those are stale.

            Exit status: 0 all images were removed; 1 some could not be removed.

            Example: cachectl remove --prefix https://example.com/avatars/
            Example: cachectl remove --unused 30d --type image/gif
            """,
        aliases: ["rm"])

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    @OptionGroup var filter: FilterOptions

    @Flag(help: "Remove all images and partial downloads.")
    var all = false

    @Flag(help: "Delete the images from the store too, if the daemon has one.")
    var store = false

    @Argument(
        help: ArgumentHelp(
            "The URLs; - reads them from standard input, one a line.", valueName: "url"),
        completion: .cachedURLs)
    var urls: [String] = []

    func validate() throws {
        let ways = [!urls.isEmpty, filter.isGiven, all].count { $0 }
        guard ways == 1 else {
            throw ValidationError(
                "Give either URLs, --all, or options that choose images, such as --prefix.")
        }
        guard !store || !urls.isEmpty else {
            throw ValidationError("--store needs URLs.")
        }
        guard filter.prefix != "" else {
            throw ValidationError("--prefix must not be empty; use --all to remove everything.")
        }
    }

    func run() throws {
        let client = try socket.connectOrStart()
        let (valid, invalid) = try checked(URLArguments.read(urls))
        let calls: [Methods.Remove.Parameters] =
            urls.isEmpty
            ? [
                .init(
                    prefix: filter.prefix, account: filter.account, host: filter.host,
                    mediaType: filter.type, state: filter.state, unusedFor: filter.unusedFor,
                    all: all ? true : nil)
            ]
            : CallBatches(valid).map { .init(urls: $0, store: store ? true : nil) }
        var sum = Methods.Remove.Reply(entries: 0, bytes: 0)
        for parameters in calls {
            let reply = try client.call(Methods.Remove.self, parameters)
            sum.entries = sum.entries.saturatingAdding(reply.entries)
            sum.bytes = sum.bytes.saturatingAdding(reply.bytes)
            sum.failure = reply.failure ?? sum.failure
        }
        if all,
            case .int(let pinned)? = try client.call(Methods.Stats.self, .init()).stats[
                "entriesPinned"],
            pinned > 0
        {
            StandardError.report(
                "\(pinned) pinned \(pinned == 1 ? "image" : "images") stayed; see list --state pinned"
            )
        }
        var output = Output()
        try output.removed(sum, verb: "removed", json: format.json)
        throw (invalid ? ExitStatus.invalidURL : .success).error
    }

    /// The valid URLs. The others are reported on standard error.
    private func checked(_ given: URLList) -> (valid: [String], anyInvalid: Bool) {
        let anyInvalidLine = given.reportInvalidLines()
        let valid = given.urls.filter { url in
            do throws(InvalidURL) {
                // The daemon knows which entries have a digest.
                if url.hasPrefix("sha256:") { return true }
                _ = try CacheURL(url)
                return true
            } catch {
                StandardError.report(url, "\(error)")
                return false
            }
        }
        return (valid, anyInvalidLine || valid.count < given.urls.count)
    }
}
