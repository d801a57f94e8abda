import CacheWire

/// Statistics for a person: the three figures that matter first, then groups. Pure.
struct StatsReport {
    /// The title of a group and its rows. The first group has no title.
    private(set) var groups: [(title: String, rows: [[String]])] = []
    private let stats: [String: JSONValue]
    private let shares: [UserShare]
    /// The current time as a Unix second.
    private let now: Int

    init(_ stats: [String: JSONValue], users: [UserShare] = [], now: Int) {
        (self.stats, shares, self.now) = (stats, users, now)
        groups = [
            ("", summary), ("Cache", cache), ("Requests", requests), ("Downloads", downloads),
            ("Removed", removed), ("Store", store), ("Memory pressure", pressure),
            ("Users", self.users),
            ("Daemon", daemon),
        ].filter { !$0.rows.isEmpty }
    }

    /// - Parameter columns: the width of the terminal; `nil` for no limit.
    func lines(columns: Int?) -> [String] {
        var table = Table([.left, .left], columns: columns)
        // All groups have the same columns.
        _ = table.lines(groups.flatMap(\.rows))
        return groups.flatMap { group in
            let lines = table.lines(group.rows)
            return group.title.isEmpty ? lines : ["", group.title] + lines
        }
    }

    /// The lines for a terminal, with colors, and with bars beside the shares.
    func styledLines(_ terminal: TerminalCapabilities, columns: Int) -> [StyledLine] {
        let titles = Set(groups.map(\.title))
        let labelWidth = (groups.flatMap(\.rows).map { $0[0].columns }.max() ?? 0) + 2
        return lines(columns: columns).map { text in
            guard !titles.contains(text) else { return StyledLine(text, .strong) }
            let label = text.first(columns: labelWidth)
            var line = StyledLine(label, .faint)
            if let fraction = fractions[label.filter { $0 != " " }] {
                line.append(Bar(terminal: terminal, width: 12).line(fraction))
                line.append("  ")
            }
            line.append(String(text.dropFirst(label.count)))
            return line.prefix(columns: columns)
        }
    }

    /// The shares that have a bar, by their labels without spaces.
    private var fractions: [String: Double] {
        let (hits, misses) = (Double(int("hits") ?? 0), Double(int("misses") ?? 0))
        return [
            "Hitratio": hits > 0 ? hits / (hits + misses) : 0,
            "Spaceheld": limit > 0 ? Double(int("bytesUsed") ?? 0) / Double(limit) : 0,
        ]
    }

    // MARK: The groups

    private var summary: [[String]] {
        let (hits, misses) = (int("hits") ?? 0, int("misses") ?? 0)
        let used = int("bytesUsed") ?? 0
        let (done, failed) = (finished, int("failed") ?? 0)
        return [
            [
                "Hit ratio",
                "\(CountText.share(hits, of: hits.saturatingAdding(misses))) of "
                    + CountText.describe(hits.saturatingAdding(misses), "request"),
            ],
            [
                "Space held",
                "\(CountText.share(used, of: limit)) of \(ByteCountText.describe(limit)), "
                    + CountText.describe(int("entries") ?? 0, "image"),
            ],
            [
                "Downloads",
                "\(CountText.describe(done)) done, "
                    + "\(CountText.describe(failed)) failed"
                    + (failed > 0
                        ? " (\(CountText.share(failed, of: done.saturatingAdding(failed))))" : ""),
            ],
        ]
    }

    private var cache: [[String]] {
        rows(
            ("  Size", int("bytesUsed").map(ByteCountText.describe)), ("  Limit", limitText),
            (
                "  Kept free on the disk",
                int("bytesMinFree").map(ByteCountText.describe)
            ),
            ("  Reserved for downloads", int("bytesReserved").map(ByteCountText.describe)),
            ("  Pinned", sized("entriesPinned", "bytesPinned", of: int("entries"))),
            ("  Partial downloads", count("partials")),
            ("  Directory", directoryText))
    }

    private var requests: [[String]] {
        let all = (int("hits") ?? 0).saturatingAdding(int("misses") ?? 0)
        return rows(
            ("  Answered from the cache", count("hits", of: all)),
            ("  Needed the origin", count("misses", of: all)),
            ("  Joined a running download", count("joined", of: all)),
            ("  Answered with a stale image", count("staleAnswers", of: all)),
            ("  Answered with a past failure", count("failuresRepeated")),
            ("  Refused for lack of room", count("refused")))
    }

    private var downloads: [[String]] {
        rows(
            ("  Running, queued", pair("transfersRunning", "transfersQueued")),
            ("  Received", int("bytesReceived").map(ByteCountText.describe)),
            ("  New images", count("published", of: finished)),
            ("  Made of larger images", count("derived")),
            ("  Confirmed unchanged", count("revalidated", of: finished)),
            ("  Attempts repeated", count("retried")))
    }

    private var removed: [[String]] {
        rows(
            ("  Evicted", sized("evicted", "bytesEvicted")),
            ("  By callers", count("removed")),
            ("  By their origins", count("withdrawn")),
            ("  Damaged", count("damaged")))
    }

    /// No rows without a store.
    private var store: [[String]] {
        guard let location = text("storeLocation") else { return [] }
        let all = int("storeLookups") ?? 0
        let error = text("storeLastError").map { error in
            let age = int("storeLastErrorAt").map {
                ", \(TimeText.describe(from: $0, to: now)) ago"
            }
            return "\(error)\(age ?? "")"
        }
        return rows(
            ("  Location", location), ("  State", text("storeState")),
            ("  State of writing", text("storeWriteState")),
            ("  Questions", count("storeLookups")),
            ("  Found there", count("storeHits", of: all)),
            ("  Too late", count("storeLate", of: all)),
            ("  Wrong objects", count("storeBad", of: all)),
            ("  Received from it", int("bytesFromStore").map(ByteCountText.describe)),
            ("  Images put there", count("storeUploads")),
            ("  Waiting to be put", count("storeQueued")),
            ("  Given up", count("storeDropped")), ("  Last error", error))
    }

    private var pressure: [[String]] {
        rows(
            ("  Level now", text("pressureLevel")), ("  Source", text("pressureSource")),
            ("  Reactions", count("pressureReactions")), ("  Last reaction", lastReaction))
    }

    /// A cache of one user has no such group.
    private var users: [[String]] {
        guard shares.count > 1 else { return [] }
        return shares.map { share in
            [
                "  User \(share.user)",
                CountText.describe(share.connections, "connection") + ", "
                    + CountText.describe(share.downloads, "download") + ", "
                    + CountText.describe(share.waiting, "image") + " awaited",
            ]
        }
    }

    private var daemon: [[String]] {
        rows(
            ("  Version", text("version")), ("  libcurl", text("curlVersion")),
            ("  Running for", int("uptimeSeconds").map(TimeText.describe(seconds:))),
            ("  Socket", text("socket")), ("  User-Agent", text("userAgent")),
            ("  Streams of changes", count("watchers")))
    }

    // MARK: Values

    /// The rows whose values are known.
    private func rows(_ all: (String, String?)...) -> [[String]] {
        all.compactMap { label, value in value.map { [label, $0] } }
    }

    private func int(_ key: String) -> Int? {
        guard case .int(let number)? = stats[key] else { return nil }
        return number
    }

    private func text(_ key: String) -> String? {
        guard case .string(let text)? = stats[key] else { return nil }
        return text.printable
    }

    private func count(_ key: String) -> String? { int(key).map(CountText.describe) }

    /// For example `12 (0.2 %)`.
    private func count(_ key: String, of whole: Int) -> String? {
        int(key).map { number in
            CountText.describe(number)
                + (whole > 0 ? " (\(CountText.share(number, of: whole)))" : "")
        }
    }

    /// For example `12 (0.2 %), 1.2 MB`.
    private func sized(_ key: String, _ bytes: String, of whole: Int? = nil) -> String? {
        guard let number = whole.map({ count(key, of: $0) }) ?? count(key) else { return nil }
        return number + (int(bytes).map { ", \(ByteCountText.describe($0))" } ?? "")
    }

    private func pair(_ first: String, _ second: String) -> String? {
        guard let first = count(first), let second = count(second) else { return nil }
        return "\(first), \(second)"
    }

    private var finished: Int { (int("published") ?? 0).saturatingAdding(int("revalidated") ?? 0) }

    private var limit: Int { int("bytesAllowed") ?? int("bytesBudget") ?? 0 }

    private var limitText: String? {
        guard let budget = int("bytesBudget") else { return nil }
        let text = ByteCountText.describe(limit)
        guard limit < budget else { return text }
        return "\(text), not \(ByteCountText.describe(budget)): the file system is nearly full"
    }

    private var directoryText: String? {
        guard let path = text("directory") else { return nil }
        if stats["isDirectoryInPlace"] == false { return "\(path) was moved away" }
        if stats["isDirectoryWritable"] == false { return "\(path) is read-only" }
        return stats["isIndexed"] == false ? "\(path), being read" : path
    }

    private var lastReaction: String? {
        guard let at = int("pressureLastAt") else { return nil }
        let evicted = CountText.describe(int("pressureLastEntries") ?? 0, "image")
        return "\(TimeText.describe(from: at, to: now)) ago, \(text("pressureLastLevel") ?? "-"), "
            + "evicted \(evicted)"
    }
}
