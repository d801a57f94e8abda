import CacheWire
import Foundation
import TestSupport

/// Any reply of the daemon: every parameter that some reply can have is optional here.
struct AnyReply: Decodable, Sendable {
    var error: String?
    var continues: Bool?
    var parameters: Parameters?
    /// Beside the parameters of the error InvalidParameter.
    var reason: String?

    struct Parameters: Decodable, Sendable {
        // Items and statistics.
        var items: [Item]?
        var item: Item?
        var after: String?
        var removed: [String]?
        var keys: [String]?
        var pressure: MemoryPressure?
        var entries: Int?
        var bytes: Int?
        var stats: [String: JSONValue]?
        var histograms: [String: Histogram]?
        var failures: [String: Int]?
        var failure: CacheWire.Failure?
        var events: [HistoryEvent]?
        var samples: HistorySamples?
        // org.varlink.service
        var product: String?
        var version: String?
        var socket: String?
        var interfaces: [String]?
        var description: String?
        // Errors.
        var method: String?
        var interface: String?
        var parameter: String?
        var limit: Int?
        var reason: String?
    }

    var items: [Item] { parameters?.items ?? [] }
    var removed: [String] { parameters?.removed ?? [] }

    init(_ text: String) throws {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
        } catch {
            throw TestFailure("\(text.prefix(500)) is not a reply: \(error)")
        }
    }
}
