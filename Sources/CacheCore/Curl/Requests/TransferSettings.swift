public import HTTPCaching
import ImageFormats

/// How images are downloaded.
public struct TransferSettings: Sendable {
    /// Downloads that run at once.
    public var transferLimit = 64
    /// Downloads from one origin at once. Downloads over HTTP/2 share a connection, so the limit does not apply to
    /// them.
    public var transfersPerHost = 6
    /// Bytes of images a second, all downloads together; `nil` for no limit.
    public var maximumRate: Int64?
    /// Pixels of the largest image that is accepted. A few bytes can promise more than any decoder can hold.
    public var maximumPixels: Int64 = 1_000_000_000
    /// The addresses that connections may lead to.
    public var addressPolicy = AddressPolicy()
    /// Whether images of hosts that are others on other networks stay on this machine, rather than in a store that several
    /// share.
    public var keepsLocalImages = true
    /// Addresses of host names that replace those of the resolver, in the form of CURLOPT_RESOLVE(3); for tests.
    var resolutions: [String] = []
    /// The proxy for all requests. A proxy from the environment is not used.
    public var proxy: ProxyChoice?
    /// Whether SVG is accepted, which can contain scripts.
    public var acceptsSVG = false
    /// Whether any body with a status of success is accepted, whatever its bytes are.
    public var acceptsAnything = false
    /// How responses are stored and reused.
    public var caching = CachingRules()
    /// A PEM file of certificates to trust in addition to the system's.
    public var certificateFile: String?
    /// Whether ``certificateFile`` is trusted instead of the system's certificates.
    public var trustsOnlyCertificateFile = false
    /// Header fields for some origins.
    public var originHeaders: (any OriginHeaders)?
    /// Seconds to resolve the host's name and connect.
    public var connectTimeout = 11
    /// Seconds from the request to the end of the response's head.
    public var firstByteTimeout = 120
    /// Seconds after which a download slower than 1 KiB/s ends.
    public var stallTimeout = 30
    /// Redirects that are followed, as many as browsers follow (Fetch standard, "HTTP-redirect fetch").
    public var redirectLimit = 20
    /// Sent with every request; the stored image must not depend on the caller.
    public var userAgent = "cached"
    /// Whether ``userAgent`` says how to reach the user. Some hosts refuse requests that do not.
    public var hasContact = true

    public init() {}

    /// How the first request to a host is sent.
    func route(to host: String?) -> RequestRoute { proxy?.route(to: host ?? "") ?? .direct }

    func accepts(_ type: MediaType) -> Bool {
        acceptsAnything || (type == .svg ? acceptsSVG : type != .other)
    }
}
