import CacheWire

extension Item {
    /// The line that `status` prints. The state comes first. The path or URL comes last because it
    /// can contain spaces. The path is not escaped, because programs read it.
    var statusLine: String {
        switch state {
        case .cached:
            "\(stateWord) \(size ?? 0) \(mediaType?.printable ?? "-") \(path ?? "-")"
        case .inFlight:
            "\(stateWord) \(percentText) \(received ?? 0)/\(total.map(String.init) ?? "-") "
                + url.printable
        case .missing:
            "\(stateWord) \(url.printable)"
        }
    }

    /// For example `42.0%`, or `-` while the total is unknown.
    var percentText: String {
        guard let percent else { return "-" }
        let tenths = Int((min(max(percent, 0), 100) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)%"
    }

    /// The state as a word for people.
    var stateWord: String {
        switch state {
        case .cached: "cached"
        case .inFlight: "in-flight"
        case .missing: "missing"
        }
    }

    /// `yes` or `no`; `nil` if unknown.
    var pinnedText: String? { pinned.map { $0 ? "yes" : "no" } }

    /// For example `640x480`, or `-` if the dimensions are unknown.
    var dimensions: String {
        guard let width, let height else { return "-" }
        return "\(width)x\(height)"
    }

    /// Whether the cache rejected the URL as invalid.
    var hasInvalidURL: Bool { failure?.kind == Failure.invalidURL }
}
