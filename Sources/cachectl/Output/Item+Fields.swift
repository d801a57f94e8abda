import CacheKey
import CacheWire

extension Item {
    /// The fields that are present: each with its name in the interface and its value as text.
    var fields: [(name: String, value: String)] {
        let all: [(String, String?)] = [
            ("url", url),
            ("key", key),
            ("state", state.rawValue),
            ("phase", phase?.rawValue),
            ("received", received.map(String.init)),
            ("total", total.map(String.init)),
            ("percent", percent.map { "\($0)" }),
            ("path", path),
            ("size", size.map(String.init)),
            ("mediaType", mediaType),
            ("width", width.map(String.init)),
            ("height", height.map(String.init)),
            ("orientation", orientation.map(String.init)),
            ("sha256", sha256),
            ("names", names.map(String.init)),
            ("sourceURL", sourceURL),
            ("derivedFrom", original),
            ("standIn", standIn),
            ("fetchedAt", fetchedAt.map(TimeText.describe(unixSecond:))),
            ("freshUntil", freshUntil.map(TimeText.describe(unixSecond:))),
            ("freshBy", freshByRule == true ? "CACHED_MIN_FRESHNESS" : nil),
            ("lastUsedAt", lastUsedAt.map(TimeText.describe(unixSecond:))),
            ("etag", etag),
            ("modified", modified.map(TimeText.describe(unixSecond:))),
            ("strict", strict.map { $0 ? "yes" : "no" }),
            ("redirect", redirect),
            ("source", sourceText),
            ("pinned", pinnedText),
            ("failure", failure?.message),
            ("failureKind", failure?.kind),
            ("httpStatus", failure?.httpStatus.map(String.init)),
            ("retryAt", failure?.retryAt.map(TimeText.describe(unixSecond:))),
        ]
        return all.compactMap { name, value in value.map { (name, $0) } }
    }

    /// The URL of the image that this one was derived from.
    private var original: String? {
        guard let url = try? CacheURL(url), url.side != nil else { return nil }
        return url.original.string
    }

    private var sourceText: String? {
        guard source == .store else { return source?.rawValue }
        guard let fetchedAt else { return "the store" }
        let age = TimeText.describe(from: fetchedAt, to: TimeText.now())
        return "from the store, fetched from its origin \(age) ago"
    }

    /// The fields as lines of an aligned table, one field a line.
    var fieldLines: [String] {
        var table = Table([.left, .left])
        return table.lines(fields.map { [$0.name, $0.value.printable] })
    }
}
