import CacheWire
import NIOCore
import NIOHTTP1

/// A request that is here completely.
struct HTTPRequest {
    let head: HTTPRequestHead
    let body: ByteBuffer
    let asker: Asker

    /// The path without the query, as it was sent.
    var path: Substring { head.uri.prefix { $0 != "?" } }
    /// The text after the first `?`.
    var query: Substring { head.uri.dropFirst(path.count + 1) }

    /// The body as values; `nil` if it is not such JSON.
    func decoded<Value: Decodable>(_: Value.Type = Value.self) -> Value? {
        do {
            return try Message.decode(from: body.readableBytesView)
        } catch {
            return nil
        }
    }
}

extension HTTPHeaders {
    /// The value of a field that is there exactly once.
    func only(_ name: String) -> String? {
        let values = self[name]
        return values.count == 1 ? values[0] : nil
    }
}
