import CacheWire

/// Verifies the cache over one connection, with or without a progress display.
struct VerifySession {
    let client: Client
    let display: InlineDisplay?

    /// Waits until the verification ends. Returns the last reply.
    func verify(_ parameters: Methods.Verify.Parameters) throws -> Methods.Verify.Reply {
        guard let display else { return try client.call(Methods.Verify.self, parameters) }
        defer { display.erase() }
        var replies = try client.stream(Methods.Verify.self, parameters)
        var last = Methods.Verify.Reply(checked: 0, damaged: [])
        while let reply = try replies.next() {
            last = reply
            display.draw([Self.line(reply, display.terminal, columns: display.size.columns)])
        }
        return last
    }

    /// The progress and the number of damaged entries.
    static func line(
        _ reply: Methods.Verify.Reply, _ terminal: TerminalCapabilities, columns: Int
    ) -> StyledLine {
        let total = reply.total ?? 0
        return OverallLine(terminal: terminal, columns: columns).line(
            OverallProgress(
                finished: reply.checked, total: total,
                fraction: total > 0 ? Double(reply.checked) / Double(total) : 0,
                label: "\(reply.damagedCount ?? 0) damaged"))
    }
}
