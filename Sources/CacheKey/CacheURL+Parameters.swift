extension CacheURL {
    /// Whether this is the other URL, with some or all parameters of its query left out.
    public func isPart(of other: CacheURL) -> Bool {
        let (own, whole) = (split, other.split)
        guard own.place == whole.place else { return false }
        var rest = whole.parameters[...]
        for parameter in own.parameters {
            guard let index = rest.firstIndex(of: parameter) else { return false }
            rest = rest[(index + 1)...]
        }
        return true
    }

    /// The part before the query, and the parameters of the query. Strings compare as Unicode text, so bytes are
    /// compared instead.
    private var split: (place: [UInt8], parameters: [[UInt8]]) {
        let parts = Array(string.utf8).split(
            separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts.dropFirst().first ?? []
        return (Array(parts[0]), query.split(separator: UInt8(ascii: "&")).map(Array.init))
    }
}
