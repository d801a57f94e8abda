/// A figure of `Stats` as Prometheus names it.
struct Figure: Hashable {
    /// How a value becomes a sample.
    enum Kind: Hashable {
        /// Never falls while the daemon runs.
        case counter
        case gauge
        /// A gauge: 1 for yes, 0 for no.
        case flag
        /// A gauge: the position of a word in the list.
        case word([String])
        /// A gauge in thousandths of the unit that the metric's name says.
        case thousandths
    }

    /// The name in the reply to `Stats`.
    let key: String
    /// The name of the metric, without the prefix of the program.
    let metric: String
    let kind: Kind
    /// The HELP line.
    let help: String

    init(_ key: String, _ metric: String, _ kind: Kind, _ help: String) {
        (self.key, self.metric, self.kind, self.help) = (key, metric, kind, help)
    }

    /// Prometheus knows only these two types of single values.
    var type: String { kind == .counter ? "counter" : "gauge" }
}
