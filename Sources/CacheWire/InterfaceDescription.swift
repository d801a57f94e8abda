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

        # Times are Unix seconds, sizes are bytes. An absent optional field is omitted, never null; null in a call means absent.
        # A client that makes oneway calls and wants all of them done shuts down its sending side, and reads to the end before
        # it closes the connection.
        # phase to percent: present while a download is in flight, also while a cached image is being refreshed; total and
        # percent are absent while unknown. path to sha256: present if the image is cached.
        # failure: why the last attempt failed. Of a queued download it can also be why its host is asked nothing until retryAt.
        # A text that is not a valid URL has a failure of kind invalidURL.
        type Item (
          url: string, key: string, state: (missing, inFlight, cached),
          phase: ?(queued, connecting, receiving, retrying, publishing),
          received: ?int, total: ?int, percent: ?float,
          path: ?string, size: ?int, mediaType: ?string, width: ?int, height: ?int, sha256: ?string,
          fetchedAt: ?int, freshUntil: ?int, lastUsedAt: ?int, pinned: ?bool,
          failure: ?Failure
        )
        type Failure (kind: string, message: string, httpStatus: ?int, retryAt: ?int)

        # Never starts a download, and does not count as a use. Answered from memory; with details (sha256, times, pin) also from
        # the attributes of the files.
        method Status(urls: []string, details: ?bool) -> (items: []Item)
        # Downloads what is missing or stale. With more: first all items, then the items that change, and at the end all items.
        # Another Fetch or Watch on the connection takes over from the running one. With wait: false it replies at once, and
        # the daemon continues the downloads. sha256: an image with another digest is a failure.
        method Fetch(urls: []string, priority: ?(background, normal, visible), refresh: ?bool, wait: ?bool, sha256: ?string) -> (items: []Item)
        # Never starts a download, and does not count as a use.
        # With more: first the current state, in replies of at most 256 items; then the changes, which are gathered for at most
        # 100 ms. An item is reported again when its state or phase changes, when 1 % more of it has arrived, and when it ends.
        # removed: keys that are no longer cached or in flight, whatever the reason. If a download failed, an item with its
        # failure is reported too.
        # Without urls: everything. With downloads instead of urls: each download when it is requested, when it starts and when
        # it ends; a download that takes less than 100 ms is not reported. The url of an item comes from the attribute of its
        # file, and is empty if it is not known.
        # A client that reads slowly gets the newest state. If more has changed than the daemon remembers, the stream ends, and
        # the client has to call again. A new Watch takes over from the running one and misses no change of what both name.
        # Without more: the current state of the urls, once. Without more and urls the error is ExpectedMore.
        method Watch(urls: ?[]string, downloads: ?bool) -> (items: []Item, removed: []string)
        # The most recently used, the largest or the oldest entries first; with reverse, last. Until the directory has been read
        # (isIndexed of Stats) the list contains only the entries that have been read so far.
        method List(order: ?(recency, size, age), limit: ?int, after: ?string, reverse: ?bool) -> (items: []Item, after: ?string)
        # Removes entries and cancels their downloads. With prefix or all, pinned entries are kept. failure: why some entries
        # could not be removed.
        method Remove(urls: ?[]string, prefix: ?string, all: ?bool) -> (entries: int, bytes: int, failure: ?Failure)
        method Pin(urls: []string, pinned: bool) -> (items: []Item)
        method Evict(toBytes: int) -> (entries: int, bytes: int, failure: ?Failure)
        method Pressure(level: (warning, critical)) -> (entries: int, bytes: int, failure: ?Failure)
        # One flat object of counters and gauges, with the units in the names: entries, bytesUsed, bytesBudget, directory, ...
        method Stats() -> (stats: [string]object)
        # Reads all entries and compares them with what was downloaded; with more, it reports progress. Damaged entries are
        # missing from then on. The last reply names the first 10,000 of them, with a failure if the damage remains. repair:
        # downloads them again, or removes them if their URL is lost.
        method Verify(repair: ?bool) -> (
          checked: int, damaged: []Item, total: ?int, damagedCount: ?int, leftCount: ?int, failure: ?Failure
        )
        # Where the cache is: the absolute paths of the directory with the images and of the socket. shared: whether several
        # users share the cache, so that it keeps no private images.
        method Where() -> (directory: string, socket: string, version: string, shared: bool)
        # More urls than one call can name; or, with wait: false, more downloads than the daemon continues on its own. Nothing
        # was done.
        error TooMany (limit: int)
        error ShuttingDown ()
        # The message was longer than limit bytes. The daemon closes the connection after this reply.
        error MessageTooLarge (limit: int)
        # The message was not a JSON object with a method. The daemon closes the connection after this reply.
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
