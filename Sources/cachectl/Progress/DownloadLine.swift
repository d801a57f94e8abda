import CacheWire

/// Draws one download on one line. Pure: the same download, width and time give the same line.
///
///     ⢸⣸ 42.0% ━━━╸────  420 kB/1.0 MB 3.1 MB/s   0:12 receiving  example.com/…/a.png
struct DownloadLine {
    let look: Look
    let columns: Int
    let time: ScreenTime

    func line(_ download: Download) -> StyledLine {
        switch download.stage {
        case .unknown: waiting(download, "")
        case .inFlight(.retrying): retrying(download)
        case .inFlight(.receiving), .inFlight(.publishing): arriving(download)
        case .inFlight(let phase): waiting(download, phase.rawValue)
        case .failed(let failure): failed(download, failure)
        case .over: StyledLine()
        }
    }

    private var layout: DownloadColumns { DownloadColumns(columns: columns) }
    private var ring: Ring { Ring(look: look) }

    // MARK: The stages

    /// The bytes come, or have come.
    private func arriving(_ download: Download) -> StyledLine {
        let isHere = download.stage == .inFlight(.publishing)
        let fraction = isHere ? 1 : download.fraction
        var line = StyledLine(
            fraction.map(ring.filled) ?? ring.turning(now: time.elapsed), .done)
        put(fraction.map(Self.percent) ?? "", layout.percent, to: &line)
        put(bar: fraction, to: &line)
        let total = download.total.map { "/" + ByteCountText.describe($0) } ?? ""
        put(ByteCountText.describe(download.received) + total, layout.bytes, to: &line)
        let rate = isHere ? nil : download.rate.bytesPerSecond
        let rateText = rate.map { ByteCountText.describe(Int($0)) + "/s" } ?? ""
        put(rateText, layout.rate, to: &line)
        let left = isHere ? nil : download.secondsLeft
        put(left.map(ScreenTime.span) ?? "", layout.timeLeft, .faint, to: &line)
        let phase = isHere ? Item.Phase.publishing : .receiving
        // Where there is no column for the rate, it says what the phase would.
        let word = layout.rate == 0 && !rateText.isEmpty ? rateText : phase.rawValue
        put(phase: word, .plain, to: &line)
        put(url: download.url, .plain, to: &line)
        return line
    }

    /// Nothing is known yet but the URL.
    private func waiting(_ download: Download, _ phase: String) -> StyledLine {
        let isAtWork = download.stage == .inFlight(.connecting)
        var line =
            isAtWork
            ? StyledLine(ring.turning(now: time.elapsed)) : StyledLine(ring.waiting, .faint)
        line.append(String(repeating: " ", count: layout.gap))
        line.append(shimmer.line(at: line.columns, width: layout.figures))
        put(phase: phase, isAtWork ? .plain : .faint, to: &line)
        put(url: download.url, isAtWork ? .plain : .faint, to: &line)
        return line
    }

    private func retrying(_ download: Download) -> StyledLine {
        let seconds = download.failure?.retryAt.map { max(0, $0 - time.unixSecond) }
        let when = seconds.map { "again in \($0) s" } ?? "again soon"
        return troubled(
            StyledLine(ring.turning(now: time.elapsed), .warning), .warning,
            why: download.failure?.message ?? "retrying", when: when, url: download.url)
    }

    private func failed(_ download: Download, _ failure: Failure) -> StyledLine {
        // Once that moment is past, the next who asks has it tried again.
        let again = failure.retryAt.map { "not before " + time.clock(unixSecond: $0) }
        return troubled(
            StyledLine(look.isUnicode ? "✗ " : "! ", .failure), .failure,
            why: failure.message, when: again ?? "", url: download.url)
    }

    /// Why and when take the place of all figures, and a part of the URL's where it is narrow.
    private func troubled(
        _ mark: StyledLine, _ ink: Ink, why: String, when: String, url: String
    ) -> StyledLine {
        var line = mark
        line.append(String(repeating: " ", count: layout.gap))
        let room = columns - line.columns
        let urlRoom = min(layout.url, room / 2)
        let reasonRoom = room - urlRoom - layout.gap
        let suffix = when.isEmpty || reasonRoom < 2 * when.columns ? "" : ", \(when)"
        let reason = why.printable.middle(columns: reasonRoom - suffix.columns, mark: look.ellipsis)
        var text = StyledLine(reason, ink)
        text.append(suffix)
        text.pad(to: max(0, reasonRoom))
        line.append(text)
        put(url: url, .plain, columns: urlRoom, to: &line)
        return line
    }

    // MARK: The parts

    private var shimmer: Shimmer { Shimmer(look: look, columns: columns, now: time.elapsed) }

    /// A text pushed to the right end of its column.
    private func put(_ text: String, _ width: Int, _ ink: Ink = .plain, to line: inout StyledLine) {
        guard width > 0 else { return }
        let padding = layout.gap + max(0, width - text.columns)
        line.append(String(repeating: " ", count: padding))
        line.append(text, ink)
    }

    private func put(bar fraction: Double?, to line: inout StyledLine) {
        guard layout.bar > 0 else { return }
        line.append(String(repeating: " ", count: layout.gap))
        line.append(
            fraction.map(Bar(look: look, width: layout.bar).line)
                ?? shimmer.line(at: line.columns, width: layout.bar))
    }

    private func put(phase: String, _ ink: Ink, to line: inout StyledLine) {
        guard layout.phase > 0 else { return }
        line.append(String(repeating: " ", count: layout.gap))
        let start = line.columns
        line.append(phase, ink)
        line.pad(to: start + layout.phase)
    }

    private func put(url: String, _ ink: Ink, columns: Int? = nil, to line: inout StyledLine) {
        let label = url.withoutScheme.middle(columns: columns ?? layout.url, mark: look.ellipsis)
        guard !label.isEmpty else { return }
        line.append(String(repeating: " ", count: layout.gap))
        line.append(label, ink)
    }

    private static func percent(_ fraction: Double) -> String {
        let tenths = Int((fraction * 1000).rounded(.down))
        return tenths >= 1000 ? "100%" : "\(tenths / 10).\(tenths % 10)%"
    }
}

extension String {
    /// A URL without its scheme, which says little, and without anything a terminal would obey.
    var withoutScheme: String {
        let text = printable
        guard let slashes = text.firstRange(of: "://") else { return text }
        return String(text[slashes.upperBound...])
    }
}
