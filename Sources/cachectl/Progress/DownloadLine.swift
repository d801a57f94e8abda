import CacheWire

/// Draws one download on one line. Pure: the same download, width and time give the same line.
///
///     ◑ 42 % ██▌░░░ 3.1 MB/s   0:12 example.com/gallery/2026/holiday/a.png
struct DownloadLine {
    let terminal: TerminalCapabilities
    let columns: Int
    let time: LocalTime

    func line(_ download: DownloadProgress) -> StyledLine {
        let state = download.state(now: time.unixSecond)
        switch state {
        case .receiving, .publishing: return measured(download, state)
        case .retrying: return retrying(download)
        case .failed: return failed(download)
        case .unmeasured: return worded(download, state, unmeasured(download))
        default: return worded(download, state, state.word)
        }
    }

    private var layout: DownloadColumns { DownloadColumns(columns: columns) }
    private var sign: Sign { Sign(terminal: terminal) }

    // MARK: The states

    /// The line of a download of which the share is known that has arrived.
    private func measured(_ download: DownloadProgress, _ state: ImageState) -> StyledLine {
        let isHere = state == .publishing
        // Only a published image closes the ring and the bar.
        let fraction = isHere ? 0.97 : min(0.97, download.fraction ?? 0)
        var line = sign.line(state, fraction: fraction, now: time.elapsed)
        let percent = Self.percent(isHere ? 1 : download.fraction ?? 0)
        put(percent, layout.percent, to: &line)
        if layout.bar > 0 {
            line.append(String(repeating: " ", count: layout.gap))
            line.append(Bar(terminal: terminal, width: layout.bar).line(fraction))
        }
        let total = download.total.map { "/" + ByteCountText.describe($0) } ?? ""
        put(ByteCountText.describe(download.received) + total, layout.bytes, to: &line)
        put(isHere ? state.word : Self.rate(download) ?? "", layout.rate, to: &line)
        let left = isHere ? nil : download.secondsLeft
        put(left.map(LocalTime.span) ?? "", layout.timeLeft, .faint, to: &line)
        put(url: download.shownURL, .plain, to: &line)
        return line
    }

    /// The line of an image about which there are words and no numbers.
    private func worded(
        _ download: DownloadProgress, _ state: ImageState, _ words: String
    ) -> StyledLine {
        var line = sign.line(state, now: time.elapsed)
        line.append(String(repeating: " ", count: layout.gap))
        let start = line.columns
        let words = words.prefix(columns: layout.figures, mark: terminal.ellipsis)
        let shimmer = Shimmer(columns: columns, now: time.elapsed)
        line.append(
            state.isComing ? shimmer.line(words, at: start) : StyledLine(words, .faint))
        line.pad(to: start + layout.figures)
        put(url: download.shownURL, state.isComing ? .plain : .faint, to: &line)
        return line
    }

    /// The longest text that fits.
    private func unmeasured(_ download: DownloadProgress) -> String {
        let bytes = ByteCountText.describe(download.received)
        guard let rate = Self.rate(download) else { return bytes }
        let whole = "\(bytes), \(rate)"
        return whole.columns <= layout.figures ? whole : rate
    }

    private func retrying(_ download: DownloadProgress) -> StyledLine {
        let seconds = download.secondsToRetry(at: time)
        let summary = FailureSummary(
            reason: download.failure?.message ?? "retrying",
            status: download.failure?.httpStatus,
            retry: seconds.map { "retry in \($0) s" } ?? "retry soon",
            shortRetry: seconds.map { "retry \($0) s" } ?? "retry soon")
        let ring = sign.line(.retrying, fraction: download.pauseLeft(at: time))
        return failureLine(ring, .warning, summary, url: download.url)
    }

    private func failed(_ download: DownloadProgress) -> StyledLine {
        var summary = FailureSummary(
            reason: download.failure?.message ?? ImageState.failed.word,
            status: download.failure?.httpStatus)
        if let second = download.failure?.retryAt {
            let clock = time.clock(unixSecond: second)
            // After this time, the next request for the URL starts another attempt.
            let isPast = second <= time.unixSecond
            summary.retry = isPast ? "can be retried" : "retry from \(clock)"
            summary.shortRetry = isPast ? "can retry" : "retry \(clock.dropLast(3))"
        }
        return failureLine(sign.line(.failed), .failure, summary, url: download.url)
    }

    /// The line of a download that failed or will be retried. The reason and the time of the retry
    /// replace all numbers, and take some of the URL's columns.
    private func failureLine(
        _ sign: StyledLine, _ style: TextStyle, _ summary: FailureSummary, url: String
    ) -> StyledLine {
        var line = sign
        line.append(String(repeating: " ", count: layout.gap))
        let room = columns - line.columns
        // On a narrow terminal the short form takes at most three fifths of the columns, so that
        // two fifths remain for the URL.
        let wanted = min(summary.shortest, room * 3 / 5)
        let reasonRoom = max(room - min(layout.url, room * 2 / 5) - layout.gap, wanted)
        var text = summary.line(columns: reasonRoom, style, terminal)
        text.pad(to: max(0, reasonRoom))
        line.append(text)
        put(url: url, .plain, columns: room - reasonRoom - layout.gap, to: &line)
        return line
    }

    // MARK: The parts

    /// Appends text that is aligned to the right of its column.
    private func put(
        _ text: String, _ width: Int, _ style: TextStyle = .plain, to line: inout StyledLine
    ) {
        guard width > 0 else { return }
        let padding = layout.gap + max(0, width - text.columns)
        line.append(String(repeating: " ", count: padding))
        line.append(text, style)
    }

    private func put(
        url: String, _ style: TextStyle, columns: Int? = nil, to line: inout StyledLine
    ) {
        let label = url.shortURL(columns: columns ?? layout.url, mark: terminal.ellipsis)
        guard !label.isEmpty else { return }
        line.append(String(repeating: " ", count: layout.gap))
        line.append(label, style)
    }

    /// A share in whole percent. 100 % stands for an image that is published.
    static func percent(_ fraction: Double) -> String {
        "\(max(0, min(99, Int(saturating: fraction * 100)))) %"
    }

    private static func rate(_ download: DownloadProgress) -> String? {
        download.rate.bytesPerSecond.map { ByteCountText.describe(Int(saturating: $0)) + "/s" }
    }
}
