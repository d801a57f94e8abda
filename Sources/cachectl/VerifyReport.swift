import CacheWire

/// What `verify` prints: damaged images and the sum on standard output.
struct VerifyReport {
    let json: Bool

    /// Prints a reply; always throws, at least the exit status.
    func print(_ reply: Methods.Verify.Reply) throws {
        var output = Output()
        for item in reply.damaged {
            if json { try output.json(item) } else { try output.line(Self.line(item)) }
        }
        if !json { try output.line(Self.summary(reply)) }
        try output.flush()
        if let failure = reply.failure { Talk.say(failure.message) }
        let isDone = reply.failure == nil && reply.leftCount ?? reply.damaged.count == 0
        throw (isDone ? ExitStatus.success : .incomplete).error
    }

    private static func line(_ item: Item) -> String {
        let name = item.url.isEmpty ? item.key : item.url.printable
        if let failure = item.failure { return "damaged \(name): \(failure.message)" }
        return item.state == .missing ? "removed \(name)" : "refetched \(name)"
    }

    /// As in `checked 3 entries, 1 damaged`.
    private static func summary(_ reply: Methods.Verify.Reply) -> String {
        let total = reply.total ?? reply.checked
        let checked = reply.checked == total ? "\(total)" : "\(reply.checked) of \(total)"
        let damaged = reply.damagedCount ?? reply.damaged.count
        let left = reply.leftCount ?? damaged
        let repaired = damaged > left ? ", \(damaged - left) repaired" : ""
        return "checked \(checked) \(total == 1 ? "entry" : "entries"), \(damaged) damaged"
            + repaired
    }
}
