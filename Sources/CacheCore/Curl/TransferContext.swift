internal import CacheKey
internal import Logging
internal import SystemPackage

/// What every transfer needs to know, and whom it tells. One for all of them: much of it would have to be
/// retained with each copy.
final class TransferContext: Sendable {
    let settings: TransferSettings
    let directory: CacheDirectory
    let logger: Logger
    /// A download begins with so many bytes that are there, of so many; or, after that, anew.
    let onBeginning: @Sendable (CacheKey, FlightID, Int64, Int64?) -> Void
    /// The first response began; whether others may share its connection, as over HTTP/2.
    let onAnswered: @Sendable (FlightID, Bool) -> Void
    /// For whom it is, and how urgent; `nil` once it is for nobody.
    let lane: @Sendable (CacheKey, FlightID) -> TransferQueue.FlowKey?
    /// Bytes received so far, and in all if the origin said.
    let onProgress: @Sendable (CacheKey, FlightID, Int64, Int64?) -> Void
    /// Says why an image of the length that was promised can't be taken at all, if so.
    let refusal: @Sendable (CacheKey, FlightID, _ length: Int64) -> Failure?
    /// Asks for room before bytes are written: for those needed now, and the length in all if known.
    let roomFor: @Sendable (CacheKey, FlightID, _ needed: Int64, _ length: Int64?) -> SpaceGrant
    /// The disk is full all the same, with so many bytes to come; whether others went for them.
    let makeRoom: @Sendable (CacheKey, Int64) -> Bool
    let onFinished: @Sendable (CacheKey, FlightID, TransferEnd) -> Void

    init(
        settings: TransferSettings, directory: CacheDirectory, logger: Logger,
        onBeginning: @escaping @Sendable (CacheKey, FlightID, Int64, Int64?) -> Void,
        onAnswered: @escaping @Sendable (FlightID, Bool) -> Void,
        lane: @escaping @Sendable (CacheKey, FlightID) -> TransferQueue.FlowKey?,
        onProgress: @escaping @Sendable (CacheKey, FlightID, Int64, Int64?) -> Void,
        refusal: @escaping @Sendable (CacheKey, FlightID, Int64) -> Failure?,
        roomFor: @escaping @Sendable (CacheKey, FlightID, Int64, Int64?) -> SpaceGrant,
        makeRoom: @escaping @Sendable (CacheKey, Int64) -> Bool,
        onFinished: @escaping @Sendable (CacheKey, FlightID, TransferEnd) -> Void
    ) {
        (self.settings, self.directory, self.logger) = (settings, directory, logger)
        (self.onBeginning, self.onAnswered, self.lane) = (onBeginning, onAnswered, lane)
        (self.onProgress, self.refusal, self.roomFor) = (onProgress, refusal, roomFor)
        (self.makeRoom, self.onFinished) = (makeRoom, onFinished)
    }

    func discardPartial(_ key: CacheKey) {
        do {
            try directory.discardPartial(of: key)
        } catch {
            logger.warning(
                "a partial could not be removed and stays",
                metadata: [
                    "directory": "\(directory.path)", "name": "\(DirectoryName.partial(key))",
                    "error": "\(error)", "remedy": "\(error.remedy)",
                ])
        }
    }
}

/// How downloads are made.
public struct TransferSettings: Sendable {
    /// Downloads under way at once; the last eighth for what is visible and for clients that have none.
    public var transferLimit = 64
    /// Downloads from one host at once, the last one like the last eighth of all. Over HTTP/2 they share
    /// a connection and are not limited by it.
    public var transfersPerHost = 6
    /// Bytes of images a second, all downloads together; `nil` for as fast as it goes.
    public var maximumRate: Int64?
    /// Where connections may lead.
    public var addressPolicy = AddressPolicy()
    /// Addresses of names in place of those the resolver has, as curl_easy_setopt(3) describes them at
    /// CURLOPT_RESOLVE; for tests.
    var resolutions: [String] = []
    /// The proxy every request goes through, as `http://host:port`; those of the environment are not used.
    public var proxy: String?
    /// Take SVG, which is a program as much as a picture.
    public var acceptsSVG = false
    /// Take whatever arrives with status 200.
    public var acceptsAnything = false
    /// How responses are stored and reused.
    public var caching = CachingRules()
    /// Certificates to trust instead of the system's, a PEM file.
    public var certificateFile: String?
    /// Seconds to resolve and connect.
    public var connectTimeout = 11
    /// A transfer below 1 KiB/s for this many seconds ends.
    public var stallTimeout = 30
    /// Redirects followed.
    public var redirectLimit = 8
    /// Sent with every request; what is stored may not depend on who asked.
    public var userAgent = "cached"

    public init() {}

    func accepts(_ type: MediaType) -> Bool {
        acceptsAnything || (type == .svg ? acceptsSVG : type != .other)
    }
}
