// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// The reply of the methods that remove entries.
public struct RemovedEntries: WireValue {
    /// The number of removed entries.
    public var entries: Int
    /// The bytes that they used.
    public var bytes: Int
    /// Why some entries could not be removed.
    public var failure: Failure?

    public init(
        entries: Int,
        bytes: Int,
        failure: Failure? = nil
    ) {
        self.entries = entries
        self.bytes = bytes
        self.failure = failure
    }

    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("entries", entries)
            json.member("bytes", bytes)
            json.member("failure", failure)
        }
    }
}
