// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// Something that happened to an image.
public struct HistoryEvent: WireValue {
    public var at: Int
    public var kind: HistoryKind
    public var key: String
    /// Empty if it is not known.
    public var url: String
    /// The bytes of the image or, of an entry that has gone, those of the disk that it used.
    public var bytes: Int?
    public var reason: HistoryReason?
    /// The number of the user who asked for the removal.
    public var user: Int?
    /// Why the download failed.
    public var failure: Failure?

    public init(
        at: Int,
        kind: HistoryKind,
        key: String,
        url: String,
        bytes: Int? = nil,
        reason: HistoryReason? = nil,
        user: Int? = nil,
        failure: Failure? = nil
    ) {
        self.at = at
        self.kind = kind
        self.key = key
        self.url = url
        self.bytes = bytes
        self.reason = reason
        self.user = user
        self.failure = failure
    }

    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("at", at)
            json.member("kind", kind)
            json.member("key", key)
            json.member("url", url)
            json.member("bytes", bytes)
            json.member("reason", reason)
            json.member("user", user)
            json.member("failure", failure)
        }
    }
}
