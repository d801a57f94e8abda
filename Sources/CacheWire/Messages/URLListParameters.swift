/// Parameters with a list of URLs, which can be very long.
protocol URLListParameters: Codable, Sendable, Hashable {
    var urls: [String] { get set }
}

extension Methods.Fetch.Parameters: URLListParameters {}
extension Methods.Status.Parameters: URLListParameters {}
