/// The interface descriptions that the daemon returns from `GetInterfaceDescription`.
public enum InterfaceDescription {
    /// The name of the cache's interface.
    public static let cacheName = "io.cached.Cache"
    /// The name of the interface that every Varlink service has.
    public static let serviceName = "org.varlink.service"

    /// Looks up an interface description.
    ///
    /// - Parameter interface: the name of an interface.
    /// - Returns: its description; `nil` if the daemon does not serve it.
    public static func text(of interface: String) -> String? {
        switch interface {
        case cacheName: cache
        case serviceName: service
        default: nil
        }
    }

    // swift-format-ignore: clients receive the text as it is, with its long lines.
    /// A copy of `etc/io.cached.Cache.varlink`, byte for byte. A test compares the two.
    public static let cache = """
        interface io.cached.Cache

        # Times are Unix seconds, sizes bytes. Absent optionals are omitted, never null; null on input means absent.
        # Who makes oneway calls and wants all of them done shuts down its side and reads to the end before it closes.
        # phase, received, total, percent: in flight, or cached and asked about or replaced (total, percent absent while unknown).
        # path to sha256: cached. failure: why the last attempt failed; a bad URL is a failure of kind invalidURL.
        type Item (
          url: string, key: string, state: (missing, inFlight, cached),
          phase: ?(queued, connecting, receiving, retrying, publishing),
          received: ?int, total: ?int, percent: ?float,
          path: ?string, size: ?int, mediaType: ?string, width: ?int, height: ?int, sha256: ?string,
          fetchedAt: ?int, freshUntil: ?int, lastUsedAt: ?int, pinned: ?bool,
          failure: ?Failure
        )
        type Failure (kind: string, message: string, httpStatus: ?int, retryAt: ?int)

        # Never starts a download, never touches recency. Answered from memory; with details (sha256, times, pin) from
        # the file's attributes too.
        method Status(urls: []string, details: ?bool) -> (items: []Item)
        method Fetch(urls: []string, priority: ?(background, normal, visible), refresh: ?bool, wait: ?bool, sha256: ?string) -> (items: []Item)
        # With more: first how things stand, in replies of 256 items at most; then only what changed, gathered for at
        # most 100 ms: an item again when its state or phase is another, or 1 % more of it is here, and its end always.
        # removed: keys of what is neither cached nor in flight any more, whoever took it; where that is because it failed,
        # there is an item too, which says why. Without urls: everything, or, with downloads, each download as it is asked for,
        # as its turn comes, and as it ends; of one for which 100 ms suffice, nothing. Named by the attribute of the file (an
        # empty url where nobody knows it). Never starts a download, never touches recency. Who reads slowly is told the newest state;
        # the stream ends by itself only where so much has changed meanwhile that nobody remembers it: call again. A new
        # Watch ends the running one and takes over from it: of what is in both nothing is missed.
        # Without more: how the urls stand, once; without urls it is refused (ExpectedMore).
        method Watch(urls: ?[]string, downloads: ?bool) -> (items: []Item, removed: []string)
        # Last used, largest or longest in the cache first; with reverse last. Until the directory is read
        # (isIndexed of Stats) it knows only what was read so far.
        method List(order: ?(recency, size, age), limit: ?int, after: ?string, reverse: ?bool) -> (items: []Item, after: ?string)
        # By prefix or all, pinned entries stay; a download in flight is cancelled. failure: why some stayed that were to go.
        method Remove(urls: ?[]string, prefix: ?string, all: ?bool) -> (entries: int, bytes: int, failure: ?Failure)
        method Pin(urls: []string, pinned: bool) -> (items: []Item)
        method Evict(toBytes: int) -> (entries: int, bytes: int, failure: ?Failure)
        method Pressure(level: (warning, critical)) -> (entries: int, bytes: int, failure: ?Failure)
        # One flat object of counters and gauges, units in the names: entries, bytesUsed, bytesBudget, directory, ...
        method Stats() -> (stats: [string]object)
        # Reads all entries, with more saying how far it is; damaged (of the last reply, the first 10,000) are missing from
        # then on, with a failure if they are left so. repair: downloads them anew, or removes them where the URL is lost.
        method Verify(repair: ?bool) -> (
          checked: int, damaged: []Item, total: ?int, damagedCount: ?int, leftCount: ?int, failure: ?Failure
        )
        # More urls than one call may name; or, with wait: false, more downloads than the daemon holds in all. Nothing was done.
        error TooMany (limit: int)
        error ShuttingDown ()
        # The message was longer than limit bytes; the connection is closed after this reply.
        error MessageTooLarge (limit: int)
        # The message was not a JSON object with a method; the connection is closed after this reply.
        error InvalidMessage (reason: string)

        """

    // swift-format-ignore
    /// The "Service Interface" of varlink.org.
    public static let service = """
        interface org.varlink.service

        # The Varlink service interface is provided by every Varlink service: it names the service and its interfaces.
        method GetInfo() -> (vendor: string, product: string, version: string, url: string, interfaces: []string)

        # The text of an interface.
        method GetInterfaceDescription(interface: string) -> (description: string)

        error InterfaceNotFound (interface: string)
        error MethodNotFound (method: string)
        error MethodNotImplemented (method: string)
        error InvalidParameter (parameter: string)
        error PermissionDenied ()
        error ExpectedMore ()

        """
}
