// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// An image that a Fetch asks for.
public struct Want: WireValue {
    public var url: String
    /// The URL that names the image, if it is not url itself: the same for all URLs that mean
    /// this image, with a signature or on a mirror for example. It is never requested, and is
    /// the url of the image in all other calls. Only managers may give one.
    public var key: String?
    /// Other URLs of the image, at most 16: mirrors, gateways, other places of an icon. When
    /// url has failed for good, the first of them is asked, and so on, each once. The name
    /// stays that of url or key; sourceURL says which it was. Only managers may give any, and
    /// not together with headers.
    public var also: [String]?
    /// Whether to pin the image, as Pin does: at once if it is cached, and else when it is
    /// published. The reply waits for that, but not the one to Adjust. Only managers may.
    public var pinned: Bool?
    /// The default is that of the call. If an image is wanted twice, the higher priority
    /// counts.
    public var priority: Priority?
    /// The failed attempts after which this call takes the failure, 1 or more; absent, the
    /// daemon's own attempts count. The download goes on for others.
    public var attempts: Int?
    /// Milliseconds after which this call takes the failure deadline if the image has not come,
    /// 1 or more. The download goes on for others.
    public var timeout: Int?
    /// Header fields for the request of an account, such as Authorization, Cookie or Accept: at
    /// most 16, of 8 KiB together. Only with a URL that names the account (#as=NAME). They are
    /// kept in memory until the call and its download end, and sent to the origin of the URL
    /// alone. Not Host, Range, If-Match and its like, and the fields of a connection: with
    /// those the image has the failure invalidHeaders.
    public var headers: [String: String]?

    public init(
        url: String,
        key: String? = nil,
        also: [String]? = nil,
        pinned: Bool? = nil,
        priority: Priority? = nil,
        attempts: Int? = nil,
        timeout: Int? = nil,
        headers: [String: String]? = nil
    ) {
        self.url = url
        self.key = key
        self.also = also
        self.pinned = pinned
        self.priority = priority
        self.attempts = attempts
        self.timeout = timeout
        self.headers = headers
    }

    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("url", url)
            json.member("key", key)
            json.member("also", also)
            json.member("pinned", pinned)
            json.member("priority", priority)
            json.member("attempts", attempts)
            json.member("timeout", timeout)
            json.member("headers", headers)
        }
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case url
        case key
        case also
        case pinned
        case priority
        case attempts
        case timeout
        case headers
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.members(CodingKeys.self)
        url = try members.decode(String.self, forKey: .url)
        key = try members.decodeIfPresent(String.self, forKey: .key)
        also = try members.decodeIfPresent([String].self, forKey: .also)
        pinned = try members.decodeIfPresent(Bool.self, forKey: .pinned)
        priority = try members.decodeIfPresent(Priority.self, forKey: .priority)
        attempts = try members.decodeIfPresent(Int.self, forKey: .attempts)
        timeout = try members.decodeIfPresent(Int.self, forKey: .timeout)
        headers = try members.decodeIfPresent([String: String].self, forKey: .headers)
    }
}
