// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// An entry that was evicted.
public struct EvictedEntry: WireValue {
    /// Empty if it is not known.
    public var url: String
    public var key: String
    /// The bytes that the entry used.
    public var bytes: Int
    public var at: Int
    public var reason: EvictionReason

    public init(
        url: String,
        key: String,
        bytes: Int,
        at: Int,
        reason: EvictionReason
    ) {
        self.url = url
        self.key = key
        self.bytes = bytes
        self.at = at
        self.reason = reason
    }

    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("url", url)
            json.member("key", key)
            json.member("bytes", bytes)
            json.member("at", at)
            json.member("reason", reason)
        }
    }
}
