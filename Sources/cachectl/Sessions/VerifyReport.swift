import CacheWire

/// The output of `verify`: damaged images and a summary.
struct VerifyReport {
    /// The numbers of the summary.
    private struct Sum: JSONWritable {
        /// How many entries there were at the start, and how many of them were compared.
        let total, checked: Int
        /// How many entries are damaged, and how many of those were not repaired.
        let damaged, left: Int

        init(_ reply: Methods.Verify.Reply) {
            checked = reply.checked
            total = reply.total ?? checked
            damaged = reply.damagedCount ?? reply.damaged.count
            left = reply.leftCount ?? damaged
        }

        func write(to json: inout JSONText) {
            json.object { json in
                json.member("total", total)
                json.member("checked", checked)
                json.member("damaged", damaged)
                json.member("left", left)
            }
        }
    }

    let json: Bool

    /// Prints a reply. Always throws, at least the exit status.
    func print(_ reply: Methods.Verify.Reply) throws {
        var output = Output()
        for item in reply.damaged {
            if json { try output.json(item) } else { try output.line(Self.line(item)) }
        }
        let sum = Sum(reply)
        if json { try output.json(sum) } else { try output.line(Self.summary(sum)) }
        try output.flush()
        if let failure = reply.failure { StandardError.report(failure.message) }
        let isDone = reply.failure == nil && sum.left == 0
        throw (isDone ? ExitStatus.success : .incomplete).error
    }

    private static func line(_ item: Item) -> String {
        let name = item.url.isEmpty ? item.key : item.url.printable
        if let failure = item.failure { return "damaged \(name): \(failure.message)" }
        return item.state == .missing ? "removed \(name)" : "refetched \(name)"
    }

    /// For example `checked 3 entries, 1 damaged`.
    private static func summary(_ sum: Sum) -> String {
        let checked = sum.checked == sum.total ? "\(sum.total)" : "\(sum.checked) of \(sum.total)"
        let repaired =
            sum.damaged > sum.left
            ? ", \(sum.damaged.saturatingSubtracting(sum.left)) repaired" : ""
        return "checked \(checked) \(sum.total == 1 ? "entry" : "entries"), \(sum.damaged) damaged"
            + repaired
    }
}
