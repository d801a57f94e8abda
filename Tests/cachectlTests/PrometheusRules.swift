/// The rules for the text format of Prometheus and for its names that `promtool check metrics` checks too.
struct PrometheusRules {
    /// The violations, a sentence each.
    private(set) var problems: [String] = []
    /// The samples without labels, by name.
    private(set) var samples: [String: Double] = [:]
    private var types: [String: String] = [:]
    private var helped: Set<String> = []
    /// The metrics whose samples have begun, in order. All samples of a metric stand together.
    private var begun: [String] = []
    /// Bounds and cumulative counts of histograms.
    private var buckets: [String: [(bound: Double, count: Double)]] = [:]

    init(_ text: String) {
        if !text.hasSuffix("\n") { problems.append("the last line has no end") }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            check(String(line))
        }
        for (metric, type) in types { check(metric, type) }
        for metric in begun where types[metric] == nil { problems.append("\(metric) has no type") }
    }

    private mutating func check(_ line: String) {
        if let match = line.wholeMatch(of: /# HELP ([a-z_:]+) (\S.*)/) {
            if !helped.insert(String(match.1)).inserted { problems.append("two helps: \(line)") }
        } else if let match = line.wholeMatch(of: /# TYPE ([a-z_:]+) (counter|gauge|histogram)/) {
            let metric = String(match.1)
            if types.updateValue(String(match.2), forKey: metric) != nil {
                problems.append("two types: \(line)")
            }
            begun.append(metric)
        } else if let match = line.wholeMatch(
            of: /([a-z_:]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+)\})? (-?[0-9.e+-]+)/)
        {
            let (name, labels) = (String(match.1), match.2.map(String.init))
            guard let value = Double(match.3) else {
                return problems.append("no number: \(line)")
            }
            add(name, labels, value)
        } else {
            problems.append("not the format: \(line)")
        }
    }

    private mutating func add(_ name: String, _ labels: String?, _ value: Double) {
        guard let metric = begun.last, let type = types[metric] else {
            return problems.append("\(name) comes before its type")
        }
        if labels == nil { samples[name] = value }
        guard type == "histogram" else {
            if name != metric { problems.append("\(name) stands below \(metric)") }
            return
        }
        switch name.dropFirst(metric.count) {
        case "_sum", "_count": break
        case "_bucket":
            guard let bound = labels?.wholeMatch(of: /le="([^"]+)"/).map({ String($0.1) }),
                let number = bound == "+Inf" ? .infinity : Double(bound)
            else { return problems.append("\(name) has no bound") }
            buckets[metric, default: []].append((number, value))
        default: problems.append("\(name) stands below \(metric)")
        }
    }

    private mutating func check(_ metric: String, _ type: String) {
        if !helped.contains(metric) { problems.append("\(metric) has no help") }
        if metric.hasSuffix("_total") != (type == "counter") {
            problems.append("\(metric) is a \(type)")
        }
        for end in ["_count", "_sum", "_bucket"] where metric.hasSuffix(end) {
            problems.append("\(metric) ends as a part of a histogram")
        }
        let words = Set(metric.split(separator: "_"))
        let foreign: Set<Substring> = [
            "milliseconds", "ms", "minutes", "hours", "days", "kilobytes", "megabytes", "kb", "mb",
            "bits", "percent", "counter", "gauge", "histogram", "bytes_used",
        ]
        if !words.isDisjoint(with: foreign) { problems.append("\(metric) has no base unit") }
        if type == "histogram" { checkBuckets(metric) }
    }

    private mutating func checkBuckets(_ metric: String) {
        let buckets = buckets[metric] ?? []
        if buckets.last?.bound != .infinity { problems.append("\(metric) does not end at +Inf") }
        for (first, second) in zip(buckets, buckets.dropFirst())
        where first.bound >= second.bound || first.count > second.count {
            problems.append("\(metric) does not rise")
        }
        if samples["\(metric)_count"] != buckets.last?.count || samples["\(metric)_sum"] == nil {
            problems.append("\(metric) has no count or sum")
        }
    }
}
