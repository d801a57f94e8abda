/// A name of a host in which each `*` stands for any characters but a dot, such as `*.example.net`.
///
///     try HostPattern("s3.*.amazonaws.com").matches("s3.eu-west-1.amazonaws.com")  // true
public struct HostPattern: Hashable, Sendable {
    /// Why a text is no pattern.
    public enum Problem: Error {
        /// It is not a host without a port and a path.
        case notOneHost
        /// It would match every host with as many dots.
        case allHosts
    }

    /// The pattern in lower case.
    public let text: String
    private let labels: [Pattern]

    public init(_ text: some StringProtocol) throws(Problem) {
        self.text = text.lowercased()
        let labels = Self.labels(of: self.text)
        guard !self.text.contains(where: { "/,:?#@".contains($0) && !text.hasPrefix("[") }),
            labels.allSatisfy({ !$0.isEmpty })
        else { throw .notOneHost }
        guard labels.contains(where: { $0 != "*" }) else { throw .allHosts }
        self.labels = labels.map { Pattern($0) }
    }

    /// Whether a host has this form.
    public func matches(_ host: some StringProtocol) -> Bool {
        let other = Self.labels(of: host.lowercased())
        return other.count == labels.count && zip(labels, other).allSatisfy { $0.matches($1) }
    }

    private static func labels(of host: String) -> [Substring] {
        host.split(separator: ".", omittingEmptySubsequences: false)
    }
}
