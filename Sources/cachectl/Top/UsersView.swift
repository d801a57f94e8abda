import CacheWire

/// Draws a row for each user of the daemon.
struct UsersView {
    let screen: TopScreen

    private var model: TopModel { screen.model }

    private var isWide: Bool { screen.columns >= 60 }

    var heads: StyledLine {
        let names = isWide ? ["CONNECTIONS", "DOWNLOADS"] : ["CONN", "DOWN"]
        return line(["USER"] + names + ["AWAITED"]).styled(.faint)
    }

    var rows: [StyledLine] {
        screen.selecting(
            model.userRows,
            model.users[model.userRows.range].map { share in
                let counts = [share.connections, share.downloads, share.waiting]
                return line(["\(share.user)"] + counts.map(CountText.describe))
            })
    }

    /// The numbers of users have ten digits at most, those of a daemon that lies may not fit.
    private func line(_ texts: [String]) -> StyledLine {
        var line = StyledLine()
        for (text, width) in zip(texts, isWide ? [10, 13, 11, 11] : [10, 8, 8, 11]) {
            line.append(String(repeating: " ", count: max(1, width - text.columns)) + text)
        }
        return line
    }
}
