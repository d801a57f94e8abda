import CacheWire

extension Item {
    /// The line of `status`: first the state, last what may contain anything.
    var statusLine: String {
        switch state {
        case .cached:
            "\(stateWord) \(size ?? 0) \(mediaType ?? "-") \(path ?? "-")"
        case .inFlight:
            "\(stateWord) \(percentText) \(received ?? 0)/\(total.map(String.init) ?? "-") "
                + url.printable
        case .missing:
            "\(stateWord) \(url.printable)"
        }
    }

    /// `42.0%`, or `-` while the total is unknown.
    private var percentText: String {
        guard let percent else { return "-" }
        let tenths = Int((min(max(percent, 0), 100) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)%"
    }

    /// The state as it is written for people.
    var stateWord: String {
        switch state {
        case .cached: "cached"
        case .inFlight: "in-flight"
        case .missing: "missing"
        }
    }

    /// `yes` or `no`, `nil` where it is not known.
    var pinnedText: String? { pinned.map { $0 ? "yes" : "no" } }

    /// `640x480`, or `-` for an image whose dimensions are not known.
    var dimensions: String {
        guard let width, let height else { return "-" }
        return "\(width)x\(height)"
    }

    /// Whether the URL is none the cache can name.
    var hasInvalidURL: Bool { failure?.kind == Failure.invalidURL }
}
