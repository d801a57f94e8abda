/// A header field that one request has in addition to the usual ones.
package struct RequestField: Equatable, Sendable {
    package var name: String
    package var value: String

    /// The field as a line without its end, as curl_slist_append(3) takes it.
    package var line: String { "\(name): \(value)" }
}
