/// A header field that one request has in addition to the usual ones.
package struct RequestField: Equatable, Sendable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        (self.name, self.value) = (name, value)
    }

    /// The field as a line without its end, as curl_slist_append(3) takes it.
    package var line: String { "\(name): \(value)" }
}
