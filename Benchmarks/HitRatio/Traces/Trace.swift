/// A sequence of requests.
package struct Trace: Sendable {
    package let name: String
    package let requests: [Request]
    /// Bytes of all its objects together.
    package let bytes: Int64

    init(name: String, requests: [Request]) {
        (self.name, self.requests) = (name, requests)
        var seen: Set<Int> = []
        bytes = requests.reduce(0) { $0 + (seen.insert($1.object).inserted ? $1.bytes : 0) }
    }
}
