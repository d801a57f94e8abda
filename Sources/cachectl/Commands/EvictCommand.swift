import ArgumentParser
import CacheWire

/// `cachectl evict`
struct EvictCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evict",
        abstract: "Evict the least recently used images down to a size.",
        discussion: """
            Images that are pinned or in flight stay. The budget of the daemon stays what it is.

            Exit status: 0 no more is left; 1 more is, because it may not be evicted.

            Example: cachectl evict --to 500MB
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    @Option(
        name: .customLong("to"),
        help: ArgumentHelp(
            "What may stay, as in 2MB (2 * 10^6 bytes), 2MiB (2 * 2^20) or 2000.",
            valueName: "size"))
    var target: ByteSize

    func run() throws {
        let client = try socket.connect()
        let reply = try client.call(Methods.Evict.self, .init(toBytes: Int(target.count)))
        var output = Output()
        if format.json {
            try output.json(reply)
        } else {
            let what = EntryCountText.describe(reply.entries, bytes: reply.bytes)
            try output.line("evicted \(what)")
        }
        try output.flush()
        if let failure = reply.failure {
            StandardError.report(failure.message)
            throw ExitStatus.incomplete.error
        }
        throw try status(client).error
    }

    /// The reply says what went; what is left stands among the figures of the daemon.
    private func status(_ client: Client) throws -> ExitStatus {
        let stats = try client.call(Methods.Stats.self, .init()).stats
        guard case .int(let bytes) = stats["bytesUsed"], bytes > target.count else {
            return .success
        }
        StandardError.report(
            "\(bytes) bytes are left: what is pinned or in flight is not evicted, nor what is left of "
                + "broken downloads (remove --all)"
        )
        return .incomplete
    }
}
