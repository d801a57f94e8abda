// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// An image that a Fetch asks for.
public struct Want: WireValue {
    public var url: String
    /// The default is that of the call. If an image is wanted twice, the higher priority
    /// counts.
    public var priority: Priority?

    public init(
        url: String,
        priority: Priority? = nil
    ) {
        self.url = url
        self.priority = priority
    }

    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("url", url)
            json.member("priority", priority)
        }
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case url
        case priority
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.members(CodingKeys.self)
        url = try members.decode(String.self, forKey: .url)
        priority = try members.decodeIfPresent(Priority.self, forKey: .priority)
    }
}
