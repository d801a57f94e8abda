import ArgumentParser
import CacheWire

/// `cachectl evict`
struct EvictCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evict",
        abstract:
            "Evict images until the cache fits a size, never-used ones first, or chosen ones.",
        discussion: """
            Pinned images and active downloads are not evicted. The daemon's own limit does not \
            change. The options that choose images are those of list, so a list shows what goes.

            Exit status: 0 the cache fits the size; 1 it is larger, because the rest cannot be \
            evicted.

            Example: cachectl evict --to 500MB
            Example: cachectl evict --unused 30d
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    @Option(
        name: .customLong("to"),
        help: ArgumentHelp(
            "The largest size to keep: 2MB is 2 * 10^6 bytes, 1.5MiB or 1.5M is 1.5 * 2^20, 2000 is bytes.",
            valueName: "size"))
    var target: ByteSize?

    @OptionGroup var filter: FilterOptions

    func validate() throws {
        guard (target != nil) != filter.isGiven else {
            throw ValidationError(
                "Give either --to SIZE, or options that choose images, such as --unused 30d.")
        }
    }

    func run() throws {
        let client = try socket.connect()
        let reply = try client.call(
            Methods.Evict.self,
            .init(
                toBytes: (target?.count).map { Int($0) }, prefix: filter.prefix,
                account: filter.account, host: filter.host, mediaType: filter.type,
                state: filter.state, unusedFor: filter.unusedFor))
        var output = Output()
        try output.removed(reply, verb: "evicted", json: format.json)
        if let target { throw try status(client, target).error }
    }

    /// The reply reports the evicted bytes. The remaining bytes are in the daemon's stats.
    private func status(_ client: Client, _ target: ByteSize) throws -> ExitStatus {
        let stats = try client.call(Methods.Stats.self, .init()).stats
        guard case .int(let bytes) = stats["bytesUsed"], bytes > target.count else {
            return .success
        }
        StandardError.report(
            "\(bytes) bytes remain: pinned images, active downloads and partial downloads are not "
                + "evicted (`cachectl remove --all` removes partial downloads)"
        )
        return .incomplete
    }
}
