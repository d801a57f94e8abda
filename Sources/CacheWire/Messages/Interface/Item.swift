// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// The cache's knowledge about one URL. The state determines which fields are present.
public struct Item: WireValue {
    /// The URL, byte for byte as it was requested.
    public var url: String
    /// The file's name: the UUIDv5 of the URL.
    public var key: String
    /// Whether a complete file exists.
    public var state: State
    /// The phase of the download. Present while one is in flight, also while a cached image is
    /// being refreshed.
    public var phase: Phase?
    /// Bytes received so far, including those of a resumed download. Present while a download
    /// is in flight, and if the image is missing and the next download can continue an
    /// interrupted one. In changes only of a download in flight.
    public var received: Int?
    /// Expected bytes; absent while unknown.
    public var total: Int?
    /// The received share, 0 to 100; absent while the total is unknown.
    public var percent: Double?
    /// The absolute path of the file. Present if the image is cached.
    public var path: String?
    /// The length of the file. Present if the image is cached.
    public var size: Int?
    /// The media type found in the bytes, for example image/png. Present if the image is
    /// cached, and in flight as soon as the bytes show it; so are width and height, once it is
    /// known how a viewer turns the image.
    public var mediaType: String?
    /// In pixels, as a viewer shows the image: cropped and turned as the file says.
    public var width: Int?
    /// In pixels, likewise.
    public var height: Int?
    /// How a viewer turns the stored pixels: 2 to 8, with the meaning of Exif's tag
    /// Orientation. Absent if it leaves them as they are. Of 5 to 8, the width is the height of
    /// the stored pixels.
    public var orientation: Int?
    /// The digest of the file, 64 hexadecimal digits. Only with details.
    public var sha256: String?
    /// The number of URLs whose images are this one file, because their bytes are equal. Only
    /// with details, and if there are several.
    public var names: Int?
    /// The URL that the image is downloaded from. Only with details, and if it is not the URL
    /// that names the image.
    public var sourceURL: String?
    /// When the bytes were received from the origin. Only with details.
    public var fetchedAt: Int?
    /// Until when the image is fresh. Only with details.
    public var freshUntil: Int?
    /// When the file was last used. Only with details.
    public var lastUsedAt: Int?
    /// The entity tag that the origin sent (RFC 9110 §8.8.3), with its quotes. Only with
    /// details.
    public var etag: String?
    /// The Last-Modified time that the origin sent (RFC 9110 §8.8.2). Only with details.
    public var modified: Int?
    /// Whether a stale image must not be used before the origin has confirmed it. Only with
    /// details, and if it is true.
    public var strict: Bool?
    /// Whether freshUntil is that of the daemon's own rule (CACHED_MIN_FRESHNESS), because the
    /// origin's is earlier. Only with details, and if it is true.
    public var freshByRule: Bool?
    /// If redirects led to another URL: the last two groups of the key of that URL. Only with
    /// details, and if the origin sent etag or modified.
    public var redirect: String?
    /// Where the bytes come from, if that is not the origin: of a download in flight, and with
    /// details of a cached image.
    public var source: Source?
    /// Whether the file is protected from eviction. In Status only with details.
    public var pinned: Bool?
    /// Why the entry has its place in the order of eviction. Only in a List in that order.
    public var rank: Rank?
    /// The path of the largest smaller image that was derived from the same original and is
    /// cached, to be shown until this one is there. Only with details, and if the image is not
    /// cached.
    public var standIn: String?
    /// Why the last attempt failed. An image that is cached but could not be refreshed has it
    /// too. In the last reply to Fetch: why the request could not be fulfilled. Of a queued
    /// download it can also be why its host is asked nothing until retryAt, or that prefetching
    /// is off.
    public var failure: Failure?

    /// Whether a complete file exists.
    public enum State: String, WireChoice {
        /// There is neither a complete file nor a download. The failure can give the reason.
        case missing
        /// The image is being downloaded; see phase.
        case inFlight
        /// There is a complete, checked and durable file at path.
        case cached
    }

    /// The phase of the download. Present while one is in flight, also while a cached image is
    /// being refreshed.
    public enum Phase: String, WireChoice {
        /// Waits for a slot, or until its host may be asked again.
        case queued
        /// Looks up the host, connects, or waits for the first byte.
        case connecting
        /// Receives bytes.
        case receiving
        /// Waits for the next attempt.
        case retrying
        /// Is being made of a larger image.
        case deriving
        /// Has received all bytes and is making them durable.
        case publishing
    }

    /// Where the bytes come from, if that is not the origin: of a download in flight, and with
    /// details of a cached image.
    public enum Source: String, WireChoice {
        /// The server that the URL names.
        case origin
        /// The store that several machines share.
        case store
    }

    /// Why the entry has its place in the order of eviction. Only in a List in that order.
    public enum Rank: String, WireChoice {
        /// It was never used, or only within ten seconds after it was fetched.
        case neverUsed
        /// It was used, and the others were used later.
        case leastRecentlyUsed
        /// It is pinned, and is not evicted.
        case pinned
    }

    public init(
        url: String,
        key: String,
        state: State,
        phase: Phase? = nil,
        received: Int? = nil,
        total: Int? = nil,
        percent: Double? = nil,
        path: String? = nil,
        size: Int? = nil,
        mediaType: String? = nil,
        width: Int? = nil,
        height: Int? = nil,
        orientation: Int? = nil,
        sha256: String? = nil,
        names: Int? = nil,
        sourceURL: String? = nil,
        fetchedAt: Int? = nil,
        freshUntil: Int? = nil,
        lastUsedAt: Int? = nil,
        etag: String? = nil,
        modified: Int? = nil,
        strict: Bool? = nil,
        freshByRule: Bool? = nil,
        redirect: String? = nil,
        source: Source? = nil,
        pinned: Bool? = nil,
        rank: Rank? = nil,
        standIn: String? = nil,
        failure: Failure? = nil
    ) {
        self.url = url
        self.key = key
        self.state = state
        self.phase = phase
        self.received = received
        self.total = total
        self.percent = percent
        self.path = path
        self.size = size
        self.mediaType = mediaType
        self.width = width
        self.height = height
        self.orientation = orientation
        self.sha256 = sha256
        self.names = names
        self.sourceURL = sourceURL
        self.fetchedAt = fetchedAt
        self.freshUntil = freshUntil
        self.lastUsedAt = lastUsedAt
        self.etag = etag
        self.modified = modified
        self.strict = strict
        self.freshByRule = freshByRule
        self.redirect = redirect
        self.source = source
        self.pinned = pinned
        self.rank = rank
        self.standIn = standIn
        self.failure = failure
    }

    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("url", url)
            json.member("key", key)
            json.member("state", state)
            json.member("phase", phase)
            json.member("received", received)
            json.member("total", total)
            json.member("percent", percent)
            json.member("path", path)
            json.member("size", size)
            json.member("mediaType", mediaType)
            json.member("width", width)
            json.member("height", height)
            json.member("orientation", orientation)
            json.member("sha256", sha256)
            json.member("names", names)
            json.member("sourceURL", sourceURL)
            json.member("fetchedAt", fetchedAt)
            json.member("freshUntil", freshUntil)
            json.member("lastUsedAt", lastUsedAt)
            json.member("etag", etag)
            json.member("modified", modified)
            json.member("strict", strict)
            json.member("freshByRule", freshByRule)
            json.member("redirect", redirect)
            json.member("source", source)
            json.member("pinned", pinned)
            json.member("rank", rank)
            json.member("standIn", standIn)
            json.member("failure", failure)
        }
    }
}
