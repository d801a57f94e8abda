import CacheWire

/// Draws one download on one line. Pure: the same download, width and time give the same line.
///
///     ⢸⣸ 42.0% ━━━╸────  420 kB/1.0 MB 3.1 MB/s   0:12 receiving  example.com/…/a.png
struct DownloadLine {
    let terminal: TerminalCapabilities
    let columns: Int
    let time: LocalTime

    func line(_ download: DownloadProgress) -> StyledLine {
        switch download.stage {
        case .unknown: waiting(download, "")
        case .inFlight(.retrying): retrying(download)
        // The host of the image asked for a pause.
        case .inFlight(.queued)
        where download.failure?.retryAt.map({ $0 > time.unixSecond }) == true:
            retrying(download)
        case .inFlight(.receiving), .inFlight(.publishing): arriving(download)
        case .inFlight(let phase): waiting(download, phase.rawValue)
        case .failed(let failure): failed(download, failure)
        case .finished: StyledLine()
        }
    }

    private var layout: DownloadColumns { DownloadColumns(columns: columns) }
    private var ring: Ring { Ring(terminal: terminal) }

    // MARK: The stages

    /// The line of a download that receives bytes or has received all of them.
    private func arriving(_ download: DownloadProgress) -> StyledLine {
        let isHere = download.stage == .inFlight(.publishing)
        let fraction = isHere ? 1 : download.fraction
        var line = StyledLine(
            fraction.map(ring.filled) ?? ring.turning(now: time.elapsed), .done)
        put(fraction.map(Self.percent) ?? "", layout.percent, to: &line)
        put(bar: fraction, to: &line)
        let total = download.total.map { "/" + ByteCountText.describe($0) } ?? ""
        put(ByteCountText.describe(download.received) + total, layout.bytes, to: &line)
        let rate = isHere ? nil : download.rate.bytesPerSecond
        let rateText = rate.map { ByteCountText.describe(Int(saturating: $0)) + "/s" } ?? ""
        put(rateText, layout.rate, to: &line)
        let left = isHere ? nil : download.secondsLeft
        put(left.map(LocalTime.span) ?? "", layout.timeLeft, .faint, to: &line)
        let phase = isHere ? Item.Phase.publishing : .receiving
        // If the layout has no column for the rate, the column of the phase shows it.
        let word = layout.rate == 0 && !rateText.isEmpty ? rateText : phase.rawValue
        put(phase: word, .plain, to: &line)
        put(url: download.shownURL, .plain, to: &line)
        return line
    }

    /// The line of a download of which only the URL is known.
    private func waiting(_ download: DownloadProgress, _ phase: String) -> StyledLine {
        let isRunning = download.stage == .inFlight(.connecting)
        var line =
            isRunning
            ? StyledLine(ring.turning(now: time.elapsed)) : StyledLine(ring.waiting, .faint)
        line.append(String(repeating: " ", count: layout.gap))
        line.append(shimmer.line(at: line.columns, width: layout.figures))
        put(phase: phase, isRunning ? .plain : .faint, to: &line)
        put(url: download.shownURL, isRunning ? .plain : .faint, to: &line)
        return line
    }

    private func retrying(_ download: DownloadProgress) -> StyledLine {
        let seconds = download.failure?.retryAt.map {
            max(0, $0.saturatingSubtracting(time.unixSecond))
        }
        let summary = FailureSummary(
            reason: download.failure?.message ?? "retrying",
            status: download.failure?.httpStatus,
            retry: seconds.map { "retry in \($0) s" } ?? "retry soon",
            shortRetry: seconds.map { "retry \($0) s" } ?? "retry soon")
        return failureLine(
            StyledLine(ring.turning(now: time.elapsed), .warning), .warning, summary,
            url: download.url)
    }

    private func failed(_ download: DownloadProgress, _ failure: Failure) -> StyledLine {
        var summary = FailureSummary(reason: failure.message, status: failure.httpStatus)
        if let second = failure.retryAt {
            let clock = time.clock(unixSecond: second)
            // After this time, the next request for the URL starts another attempt.
            let isPast = second <= time.unixSecond
            summary.retry = isPast ? "can be retried" : "retry from \(clock)"
            summary.shortRetry = isPast ? "can retry" : "retry \(clock.dropLast(3))"
        }
        return failureLine(
            StyledLine(terminal.isUnicode ? "✗ " : "! ", .failure), .failure, summary,
            url: download.url)
    }

    /// The line of a download that failed or will be retried. The reason and the time of the retry
    /// replace all numbers. On a narrow terminal they also take some of the URL's columns.
    private func failureLine(
        _ mark: StyledLine, _ style: TextStyle, _ summary: FailureSummary, url: String
    ) -> StyledLine {
        var line = mark
        line.append(String(repeating: " ", count: layout.gap))
        let room = columns - line.columns
        // On a narrow terminal the short form takes at most three fifths of the columns, so that
        // two fifths remain for the URL.
        let wanted = min(summary.shortest, room * 3 / 5)
        let reasonRoom = max(room - min(layout.url, room / 2) - layout.gap, wanted)
        var text = summary.line(columns: reasonRoom, style, terminal)
        text.pad(to: max(0, reasonRoom))
        line.append(text)
        put(url: url, .plain, columns: room - reasonRoom - layout.gap, to: &line)
        return line
    }

    // MARK: The parts

    private var shimmer: Shimmer {
        Shimmer(terminal: terminal, columns: columns, now: time.elapsed)
    }

    /// Appends text that is aligned to the right of its column.
    private func put(
        _ text: String, _ width: Int, _ style: TextStyle = .plain, to line: inout StyledLine
    ) {
        guard width > 0 else { return }
        let padding = layout.gap + max(0, width - text.columns)
        line.append(String(repeating: " ", count: padding))
        line.append(text, style)
    }

    private func put(bar fraction: Double?, to line: inout StyledLine) {
        guard layout.bar > 0 else { return }
        line.append(String(repeating: " ", count: layout.gap))
        line.append(
            fraction.map(Bar(terminal: terminal, width: layout.bar).line)
                ?? shimmer.line(at: line.columns, width: layout.bar))
    }

    private func put(phase: String, _ style: TextStyle, to line: inout StyledLine) {
        guard layout.phase > 0 else { return }
        line.append(String(repeating: " ", count: layout.gap))
        let start = line.columns
        line.append(phase, style)
        line.pad(to: start + layout.phase)
    }

    private func put(
        url: String, _ style: TextStyle, columns: Int? = nil, to line: inout StyledLine
    ) {
        let label = url.shortURL(columns: columns ?? layout.url, mark: terminal.ellipsis)
        guard !label.isEmpty else { return }
        line.append(String(repeating: " ", count: layout.gap))
        line.append(label, style)
    }

    private static func percent(_ fraction: Double) -> String {
        let tenths = Int((fraction * 1000).rounded(.down))
        return tenths >= 1000 ? "100%" : "\(tenths / 10).\(tenths % 10)%"
    }
}
