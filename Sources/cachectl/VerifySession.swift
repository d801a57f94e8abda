import CacheWire

/// One connection that verifies, with or without a display of how far it is.
struct VerifySession {
    let client: Client
    let display: InlineDisplay?

    /// Waits for the end; returns the last reply.
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

    /// How far it is, and how much was found.
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
