import CacheWire

/// A change that `link --follow` reports.
struct LinkChange: JSONWritable {
    enum Kind: String {
        case linked, removed
    }

    let change: Kind
    let key: String
    /// `nil` for a link that was removed.
    var url: String?
    /// The path of the link.
    let path: String

    func write(to json: inout JSONText) {
        json.object { json in
            json.member("change", change.rawValue)
            json.member("key", key)
            json.member("url", url)
            json.member("path", path)
        }
    }
}
