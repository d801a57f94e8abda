import CacheWire

/// Statistics in the text format of Prometheus, version 0.0.4. Pure.
struct PrometheusText {
    private(set) var lines: [String] = []

    init(_ reply: Methods.Stats.Reply) {
        add(info: reply.stats)
        for figure in Figure.all {
            guard let value = reply.stats[figure.key].flatMap(figure.sample) else { continue }
            begin(figure.metric, figure.type, figure.help)
            add(figure.metric, value)
        }
        add(failures: reply.failures ?? [:])
        for (key, histogram) in (reply.histograms ?? [:]).sorted(by: { $0.key < $1.key }) {
            add(histogram, named: key)
        }
    }

    /// The versions, as labels of a metric that is always 1.
    private mutating func add(info stats: [String: JSONValue]) {
        let labels = [("version", "version"), ("curl", "curlVersion"), ("build", "build")]
            .compactMap { label, key in
                stats[key].map { Self.label(label, $0.description) }
            }
        begin("build_info", "gauge", "The versions of the daemon and of libcurl.")
        add("build_info{\(labels.joined(separator: ","))}", "1")
    }

    /// Begins a metric.
    mutating func begin(_ metric: String, _ type: String, _ help: String) {
        lines.append("# HELP cached_\(metric) \(help)")
        lines.append("# TYPE cached_\(metric) \(type)")
    }

    mutating func add(_ sample: String, _ value: String) {
        lines.append("cached_\(sample) \(value)")
    }

    /// A label with its value, in which three characters are escaped.
    static func label(_ name: String, _ value: String) -> String {
        let escaped = value.printable.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\(name)=\"\(escaped)\""
    }
}

extension Figure {
    /// The value as text; `nil` if it is not of this kind.
    func sample(_ value: JSONValue) -> String? {
        switch (kind, value) {
        case (.counter, .int(let number)), (.gauge, .int(let number)): "\(number)"
        case (.counter, .double(let number)), (.gauge, .double(let number)): "\(number)"
        case (.flag, .bool(let isSet)): isSet ? "1" : "0"
        case (.word(let words), .string(let word)): words.firstIndex(of: word).map { "\($0)" }
        case (.thousandths, .int(let number)): "\(Double(number) / 1000)"
        default: nil
        }
    }
}
