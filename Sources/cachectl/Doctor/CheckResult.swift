import CacheWire

/// A finding and the check that made it, as a line of JSON.
struct CheckResult: JSONWritable {
    let check: String
    let finding: Finding

    func write(to json: inout JSONText) {
        json.object { json in
            json.member("check", check)
            json.member("level", finding.level.rawValue)
            json.member("message", finding.message)
            json.member("fix", finding.fix)
        }
    }

    /// The rows of a table for people.
    var rows: [[String]] {
        let row = [finding.level.rawValue, check, finding.message.printable]
        return [row] + (finding.fix.map { [["", "", "-> \($0.printable)"]] } ?? [])
    }
}
