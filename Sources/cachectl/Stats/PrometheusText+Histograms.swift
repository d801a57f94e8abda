import CacheWire

extension PrometheusText {
    /// The failed downloads by kind. There are only as many kinds as docs/lookup/failures.md lists.
    mutating func add(failures: [String: Int]) {
        guard !failures.isEmpty else { return }
        let metric = "failed_downloads_by_kind_total"
        begin(metric, "counter", "Downloads that failed in the end, by the kind of the failure.")
        for (kind, count) in failures.sorted(by: { $0.key < $1.key }) {
            add("\(metric){\(Self.label("kind", kind))}", "\(count)")
        }
    }

    /// A histogram. In Prometheus each bucket includes those below it.
    mutating func add(_ histogram: Histogram, named key: String) {
        let metric = Self.metric(of: key)
        begin(metric, "histogram", Self.help[key] ?? "See \(key) in docs/lookup/stats.md.")
        var total = 0
        for (bound, count) in zip(histogram.bounds, histogram.counts) {
            total = total.saturatingAdding(count)
            add("\(metric)_bucket{\(Self.label("le", "\(bound)"))}", "\(total)")
        }
        total = histogram.counts.dropFirst(histogram.bounds.count)
            .reduce(total) { $0.saturatingAdding($1) }
        add("\(metric)_bucket{\(Self.label("le", "+Inf"))}", "\(total)")
        add("\(metric)_sum", "\(histogram.sum)")
        add("\(metric)_count", "\(total)")
    }

    private static let help = [
        "firstByteSeconds": "Time from a request to the beginning of its response.",
        "downloadSeconds": "Time from a request to the last byte of its response.",
        "publishSeconds": "Time from the last byte to the durable file under its name.",
        "imageBytes": "Sizes of downloaded images.",
    ]

    /// For example `first_byte_seconds` of `firstByteSeconds`.
    private static func metric(of key: String) -> String {
        key.reduce(into: "") { metric, letter in
            metric += letter.isUppercase ? "_" + letter.lowercased() : "\(letter)"
        }
    }
}
