internal import CCurl
import CacheValues
import HTTPCaching

/// The header fields of a request: those that every request has, and its own. It must live as long as the
/// request.
final class RequestHeaders: Sendable {
    // The list is never changed, not even by libcurl. CURLOPT_HTTPHEADER(3)
    nonisolated(unsafe) let list: UnsafeMutablePointer<curl_slist>?

    /// The fields of most requests.
    static let usual = RequestHeaders([])

    /// - Parameter fields: a field that every request has is replaced by one of the same name.
    init(_ fields: [RequestField]) {
        // Always `*/*`: the stored image must not depend on the first caller.
        let usual = fields.contains { $0.name.lowercased() == "accept" } ? [] : ["Accept: */*"]
        list = (usual + fields.map(\.line)).reduce(nil) { curl_slist_append($0, $1) }
    }

    deinit {
        curl_slist_free_all(list)
    }
}
