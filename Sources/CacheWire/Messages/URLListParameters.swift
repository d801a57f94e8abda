/// Parameters that name URLs, perhaps very many.
protocol URLListParameters: Codable, Sendable, Hashable {
    var urls: [String] { get set }
}

extension Methods.Fetch.Parameters: URLListParameters {}
extension Methods.Status.Parameters: URLListParameters {}
