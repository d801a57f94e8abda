// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension InterfaceDescription {
    // swift-format-ignore: clients receive the text as it is, with its long lines.
    /// The text of `etc/io.cached.Cache.varlink`.
    public static let cache = """
        # A cache of images on this machine: each is downloaded once, checked, and stored in a file.
        #
        # Times are Unix seconds, sizes are bytes. An absent optional field is omitted, never null; null in a call means absent.
        # A client that makes oneway calls and wants all of them done shuts down its sending side, and reads to the end before
        # it closes the connection. A reply with the error org.varlink.service.InvalidParameter has a member reason
        # beside its parameters: a sentence for a person.
        #
        # Remove, Pin, Evict, Pressure, Verify and CheckStore are for the managers of the cache: its owner, root, and the users
        # whom the configuration names; so are Fetch and Adjust with key, also or pinned. Others get the error
        # org.varlink.service.PermissionDenied, for these with a reason as above.
        interface io.cached.Cache

        # The urgency of a fetch. A shared download has the highest priority of its callers.
        type Priority (
          # No user waits for the image: revalidation, prefetch.
          background,
          # The default.
          normal,
          # A user is looking at the place for the image.
          visible
        )

        # Why an attempt to fetch a URL failed.
        type Failure (
          # A word that programs can compare, for example invalidURL: the text is not a valid URL.
          kind: string,
          # One sentence for a person.
          message: string,
          # The HTTP status that the origin answered, if any.
          httpStatus: ?int,
          # The time before which the cache does not ask the origin again.
          retryAt: ?int
        )

        # The number of values in each of a few ranges.
        type Histogram (
          # The upper bounds of the ranges, ascending. A range includes its bound and begins above the one before it.
          bounds: []float,
          # The number of values in each range, and at the end the number of values above all bounds.
          counts: []int,
          # The sum of all values.
          sum: float
        )

        # The cache's knowledge about one URL. The state determines which fields are present.
        type Item (
          # The URL, byte for byte as it was requested.
          url: string,
          # The file's name: the UUIDv5 of the URL.
          key: string,
          # Whether a complete file exists.
          state: (
            # There is neither a complete file nor a download. The failure can give the reason.
            missing,
            # The image is being downloaded; see phase.
            inFlight,
            # There is a complete, checked and durable file at path.
            cached
          ),
          # The phase of the download. Present while one is in flight, also while a cached image is being refreshed.
          phase: ?(
            # Waits for a slot, or until its host may be asked again.
            queued,
            # Looks up the host, connects, or waits for the first byte.
            connecting,
            # Receives bytes.
            receiving,
            # Waits for the next attempt.
            retrying,
            # Is being made of a larger image.
            deriving,
            # Has received all bytes and is making them durable.
            publishing
          ),
          # Bytes received so far, including those of a resumed download. Present while a download is in flight, and if the
          # image is missing and the next download can continue an interrupted one. In changes only of a download in flight.
          received: ?int,
          # Expected bytes; absent while unknown.
          total: ?int,
          # The received share, 0 to 100; absent while the total is unknown.
          percent: ?float,
          # The absolute path of the file. Present if the image is cached.
          path: ?string,
          # The length of the file. Present if the image is cached.
          size: ?int,
          # The media type found in the bytes, for example image/png. Present if the image is cached, and in flight as soon as
          # the bytes show it; so are width and height, once it is known how a viewer turns the image.
          mediaType: ?string,
          # In pixels, as a viewer shows the image: cropped and turned as the file says.
          width: ?int,
          # In pixels, likewise.
          height: ?int,
          # How a viewer turns the stored pixels: 2 to 8, with the meaning of Exif's tag Orientation. Absent if it leaves them as
          # they are. Of 5 to 8, the width is the height of the stored pixels.
          orientation: ?int,
          # The digest of the file, 64 hexadecimal digits. Only with details.
          sha256: ?string,
          # The number of URLs whose images are this one file, because their bytes are equal. Only with details, and if there
          # are several.
          names: ?int,
          # The URL that the image is downloaded from. Only with details, and if it is not the URL that names the image.
          sourceURL: ?string,
          # When the bytes were received from the origin. Only with details.
          fetchedAt: ?int,
          # Until when the image is fresh. Only with details.
          freshUntil: ?int,
          # When the file was last used. Only with details.
          lastUsedAt: ?int,
          # The entity tag that the origin sent (RFC 9110 §8.8.3), with its quotes. Only with details.
          etag: ?string,
          # The Last-Modified time that the origin sent (RFC 9110 §8.8.2). Only with details.
          modified: ?int,
          # Whether a stale image must not be used before the origin has confirmed it. Only with details, and if it is true.
          strict: ?bool,
          # Whether freshUntil is that of the daemon's own rule (CACHED_MIN_FRESHNESS), because the origin's is earlier. Only with
          # details, and if it is true.
          freshByRule: ?bool,
          # If redirects led to another URL: the last two groups of the key of that URL. Only with details, and if the origin
          # sent etag or modified.
          redirect: ?string,
          # Where the bytes come from, if that is not the origin: of a download in flight, and with details of a cached image.
          source: ?(
            # The server that the URL names.
            origin,
            # The store that several machines share.
            store
          ),
          # Whether the file is protected from eviction. In Status only with details.
          pinned: ?bool,
          # Why the entry has its place in the order of eviction. Only in a List in that order.
          rank: ?(
            # It was never used, or only within ten seconds after it was fetched.
            neverUsed,
            # It was used, and the others were used later.
            leastRecentlyUsed,
            # It is pinned, and is not evicted.
            pinned
          ),
          # The path of the largest smaller image that was derived from the same original and is cached, to be shown until this one
          # is there. Only with details, and if the image is not cached.
          standIn: ?string,
          # Why the last attempt failed. An image that is cached but could not be refreshed has it too. In the last reply to
          # Fetch: why the request could not be fulfilled. Of a queued download it can also be why its host is asked nothing
          # until retryAt, or that prefetching is off.
          failure: ?Failure
        )

        # An image that a Fetch asks for.
        type Want (
          url: string,
          # The URL that names the image, if it is not url itself: the same for all URLs that mean this image, with a signature
          # or on a mirror for example. It is never requested, and is the url of the image in all other calls. Only managers may
          # give one.
          key: ?string,
          # Other URLs of the image, at most 16: mirrors, gateways, other places of an icon. When url has failed for good, the first of
          # them is asked, and so on, each once. The name stays that of url or key; sourceURL says which it was. Only managers may
          # give any, and not together with headers.
          also: ?[]string,
          # Whether to pin the image, as Pin does: at once if it is cached, and else when it is published. The reply waits for
          # that, but not the one to Adjust. Only managers may.
          pinned: ?bool,
          # The default is that of the call. If an image is wanted twice, the higher priority counts.
          priority: ?Priority,
          # The failed attempts after which this call takes the failure, 1 or more; absent, the daemon's own attempts count. The
          # download goes on for others.
          attempts: ?int,
          # Milliseconds after which this call takes the failure deadline if the image has not come, 1 or more. The download goes
          # on for others.
          timeout: ?int,
          # Header fields for the request of an account, such as Authorization, Cookie or Accept: at most 16, of 8 KiB together.
          # Only with a URL that names the account (#as=NAME). They are kept in memory until the call and its download end, and sent to the
          # origin of the URL alone. Not Host, Range, If-Match and its like, and the fields of a connection: with those the image has
          # the failure invalidHeaders.
          headers: ?[string]string
        )

        # The order of the entries in List.
        type ListOrder (
          # Most recently used first.
          recency,
          # Largest first.
          size,
          # Oldest first.
          age,
          # The next to be evicted first: those that were never used, then the least recently used, each with its rank. It is
          # the order if no image is used, added or removed meanwhile. reverse does not apply.
          eviction
        )

        # How short of memory or disk space the machine is.
        type PressureLevel (
          # Memory or space is getting short: release the parts that are cheap to replace.
          warning,
          # Memory or space has run out: release everything that can be released.
          critical
        )

        # How short of memory the machine is, or the control group of the daemon.
        type MemoryPressure (
          # No source reports pressure.
          normal,
          # Release what is cheap to replace.
          warning,
          # Release everything that can be released.
          critical
        )

        # Returns the state of URLs. It never starts a download and does not count as a use. Answered from memory; with details
        # also from the attributes of the files.
        #
        # Here and in Fetch, Open and Remove, sha256: and 64 hexadecimal digits in the place of a URL mean an image with this
        # digest, whatever its URL.
        method Status(
          # In any order and with repetitions. The items of the reply have the same order.
          urls: []string,
          # Whether to read the digest, times and pin from the files' attributes too.
          details: ?bool,
          # Names of files in the cache directory. Their items follow those of urls. The url of an item is empty if it is not
          # known.
          keys: ?[]string
        ) -> (items: []Item)

        # Hands over the file of a cached image: its descriptor, open for reading, comes with the reply (SCM_RIGHTS, unix(7)), for
        # programs that may not or cannot open its path. Counts as a use, and never starts a download. If the image is not cached
        # there is no descriptor, and the item has a failure; so it is while the client has not received 64 descriptors, or the
        # clients of its user a quarter of the daemon's limit of open files.
        method Open(url: string) -> (item: Item)

        # Downloads what is missing or stale. A URL that is already being downloaded joins that download.
        #
        # With more: first all items, then the items that change, and at the end all items; if nothing has to be waited for, only
        # the last reply. Another Fetch or Watch on the connection takes over from the running one, and Adjust changes its images.
        method Fetch(
          # In any order and with repetitions. The items of the reply have the same order.
          urls: ?[]string,
          # More images, with a priority each. Their items follow those of urls.
          wants: ?[]Want,
          # The default is normal.
          priority: ?Priority,
          # Whether to ask the origin even if the entry is still fresh.
          refresh: ?bool,
          # false replies at once. The daemon continues the downloads on its own.
          wait: ?bool,
          # The expected SHA-256 of every image, as 64 hexadecimal digits. An image with another digest is a failure. If a
          # manager calls and any entry has these bytes, nothing is downloaded.
          sha256: ?string,
          # Only with more: the stream goes on when all images are decided. It reports evictions, removals and refreshes, and
          # fetches again at retryAt what failed for a reason that passes.
          follow: ?bool
        ) -> (items: []Item)

        # Changes the images of the Fetch with more that runs on the connection. An image whose priority changes keeps its
        # download. Oneway, the next reply to the Fetch has the items that are new. With more, the Fetch ends with a reply without
        # items, and the replies to Adjust go on in its place. Without either the error is ExpectedMore.
        method Adjust(
          add: ?[]Want,
          # URLs that are no longer wanted. They are dropped before others are added.
          drop: ?[]string
        ) -> (items: []Item)

        # Reports the current state and then the changes. It never starts a download, and does not count as a use.
        #
        # With more: first the current state, in replies of at most 256 items; then the changes, which are gathered for at most
        # 100 ms, ends of downloads for at most 20 ms. An item is reported again when its state or phase changes, when 1 % more
        # of it has arrived, and when it ends. If a download failed, an item with its failure is reported too. The url of an item
        # comes from the attribute of its file, and is empty if it is not known.
        #
        # A client that reads slowly gets the newest state. If more has changed than the daemon remembers, the stream ends, and
        # the client has to call again. A new Watch takes over from the running one and misses no change of what both name.
        # Without more: the current state of the urls, once. Without more and urls the error is ExpectedMore.
        method Watch(
          # Absent: everything, unless pressure is set.
          urls: ?[]string,
          # Whether to watch downloads only, without urls: each download when it is requested, when it starts and when it ends.
          # A download that takes less than 100 ms is not reported.
          downloads: ?bool,
          # Whether to report memory pressure: the level at the beginning and each other level. Without urls and downloads the
          # stream reports nothing else.
          pressure: ?bool
        ) -> (
          # The items that changed since the last reply. The first replies contain all items.
          items: []Item,
          # The keys that are no longer cached or in flight, whatever the reason.
          removed: []string,
          # Only with pressure, in replies that report a level.
          pressure: ?MemoryPressure
        )

        # Which images a List contains.
        type ListState (
          # Every entry: the default.
          cached,
          # The images that are in flight, also those that are being refreshed, by key. order and reverse do not apply.
          inFlight,
          # The entries that may be used without asking their origin.
          fresh,
          # The entries about which their origin is asked when they are fetched next.
          stale,
          # The entries that are protected from eviction.
          pinned,
          # The entries whose bytes another entry has too.
          duplicates,
          # The images that are not here because their last download failed, as far back as the history reaches, by key. order,
          # reverse and the fields about entries do not apply. Of another person's shared daemon, nobody else may ask.
          failed
        )

        # Lists the entries, page by page. Until the directory has been read (isIndexed of Stats) the list contains only the
        # entries that have been read so far. With a filter a page can be shorter than limit, even empty, and not be the last.
        method List(
          # The default is recency.
          order: ?ListOrder,
          # The most items to return. The daemon can return fewer.
          limit: ?int,
          # The after of the previous page's reply.
          after: ?string,
          # Whether to reverse the order.
          reverse: ?bool,
          # Only images whose URL starts with these bytes.
          prefix: ?string,
          # Only images of this host, in upper or lower case, without a port.
          host: ?string,
          # Only images whose URL or key contains this text. Upper and lower case of ASCII count as the same.
          contains: ?string,
          # Only images of this account: those whose URL has #as=NAME.
          account: ?string,
          # Only images of this type, for example image/png. Not of downloads.
          mediaType: ?string,
          # Only images with this digest, as 64 hexadecimal digits in lower case: copies of one image. Not downloads.
          sha256: ?string,
          state: ?ListState,
          # Whether to leave out the images that were derived from others: those whose URL has side=N. One of an original that
          # was as small, but turned, can be listed.
          originals: ?bool,
          # Only images that were not used in the last so many seconds. Not downloads.
          unusedFor: ?int,
          # Whether to return keys in place of items.
          keysOnly: ?bool
        ) -> (
          # Empty with keysOnly.
          items: []Item,
          # The position after this page; absent on the last page.
          after: ?string,
          # Only with keysOnly.
          keys: ?[]string
        )

        # Removes entries and cancels their downloads: by URL, all, or those that a filter chooses. The fields of the filter are those
        # of List, and an entry has to fit each that is given. Pinned entries are kept, unless urls or account alone names them.
        method Remove(
          # The URLs to remove, pinned or not.
          urls: ?[]string,
          # Removes entries whose URL starts with these bytes.
          prefix: ?string,
          # Removes entries of this account: those whose URL has #as=NAME. If nothing else is given, pinned ones too.
          account: ?string,
          # Removes entries of this host, in upper or lower case, without a port.
          host: ?string,
          # Removes entries of this type, for example image/png. No downloads.
          mediaType: ?string,
          # Removes the entries in this state: cached, fresh or stale. No downloads.
          state: ?ListState,
          # Removes entries that were not used in the last so many seconds. No downloads.
          unusedFor: ?int,
          # Whether to remove all entries.
          all: ?bool,
          # Only with urls: whether to delete the images from the store too, if there is one that may be written to. Other
          # machines keep theirs until they are stale.
          store: ?bool
        ) -> (
          # The number of removed entries.
          entries: int,
          # The bytes that they used.
          bytes: int,
          # Why some entries could not be removed.
          failure: ?Failure
        )

        # Protects entries from eviction, or ends the protection.
        method Pin(
          # In any order and with repetitions. The items of the reply have the same order.
          urls: []string,
          # false ends the protection.
          pinned: bool
        ) -> (items: []Item)

        # Evicts entries, those that were never used first and then the least recently used, until the cache fits a size, or all entries that a filter chooses, as in Remove.
        # Pinned entries stay, and those that are being downloaded again.
        method Evict(
          # The size. Not with a filter.
          toBytes: ?int,
          prefix: ?string,
          account: ?string,
          host: ?string,
          mediaType: ?string,
          state: ?ListState,
          # Evicts entries that were not used in the last so many seconds.
          unusedFor: ?int
        ) -> (entries: int, bytes: int, failure: ?Failure)

        # Gives memory back as if a source of pressure had reported this level.
        method Pressure(level: PressureLevel) -> (entries: int, bytes: int, failure: ?Failure)

        # What happened to an image.
        type HistoryKind (
          # It was downloaded, checked and stored.
          fetched,
          # Its origin confirmed that it has not changed.
          confirmed,
          # It was made of a larger image.
          derived,
          # A download ended without an image.
          failed,
          # The cache chose it to make room.
          evicted,
          # It was removed for another reason.
          removed,
          # Its file was damaged, and was removed.
          damaged
        )

        # Why it happened.
        type HistoryReason (
          # The cache had more bytes or entries than it may have.
          budget,
          # Less space was free on the disk than has to stay free, or the disk was full.
          diskSpace,
          # Memory was short, or a call of Pressure said so.
          pressure,
          # A call of Evict or Remove.
          requested,
          # Nobody used the image for the longest time that the configuration permits.
          unused,
          # The origin no longer has the image.
          gone,
          # The origin forbids keeping the image.
          notStored,
          # Another program removed or replaced the file.
          outside,
          # A call of Remove during the download.
          cancelled,
          # The bytes came from the store that several machines share.
          store
        )

        # Something that happened to an image.
        type HistoryEvent (
          at: int,
          kind: HistoryKind,
          key: string,
          # Empty if it is not known.
          url: string,
          # The bytes of the image or, of an entry that has gone, those of the disk that it used.
          bytes: ?int,
          reason: ?HistoryReason,
          # The number of the user who asked for the removal.
          user: ?int,
          # Why the download failed.
          failure: ?Failure
        )

        # Figures of the last 24 hours, one value of each for each time. A figure that did not change is not repeated every minute.
        type HistorySamples (
          # When they were taken, ascending.
          at: []int,
          # bytesUsed, entries, bytesReceived, hits, misses, published, failed, evicted and bytesEvicted, as in Stats. Counters
          # begin at 0 when the daemon starts.
          figures: [string][]int
        )

        # Returns what happened lately, the newest last. The daemon remembers 10,000 events over restarts; a crash loses those of
        # the last seconds. Of another person's shared daemon, urls are needed: what others fetched is not for everybody.
        method History(
          # Only events of these images.
          urls: ?[]string,
          # Only events of these kinds.
          kinds: ?[]HistoryKind,
          # Only events at this time or later.
          since: ?int,
          # The most events to return, of more the newest. The default is 1,000.
          limit: ?int,
          # Whether to return samples of the figures too.
          samples: ?bool
        ) -> (
          events: []HistoryEvent,
          # Only with samples.
          samples: ?HistorySamples
        )

        # What one user of the machine takes of the daemon.
        type UserShare (
          # The number of the user.
          user: int,
          # Connected clients.
          connections: int,
          # Running downloads.
          downloads: int,
          # Images that callers of the user wait for.
          waiting: int
        )

        # Returns the daemon's counters and gauges.
        method Stats() -> (
          # One flat object. The names contain the units: entries, bytesUsed, bytesBudget, directory, ...
          stats: [string]object,
          # The times and sizes of downloads since the start. The end of each name is the unit: firstByteSeconds,
          # downloadSeconds, publishSeconds, imageBytes.
          histograms: ?[string]Histogram,
          # The downloads that failed since the start, by the kind of the failure.
          failures: ?[string]int,
          # The users who have connections or downloads now, in the order of their numbers.
          users: ?[]UserShare
        )

        # Asks the store that several machines share, if there is one, and puts a small object there for the moment.
        method CheckStore() -> (
          # The bucket and the prefix, as s3://BUCKET/PREFIX. Absent without a store, and then all other fields are too.
          store: ?string,
          # The address of the server.
          endpoint: ?string,
          # read-write, read or write.
          mode: ?string,
          # How downloads use the store now: ok, late or refused.
          state: ?string,
          # Seconds that the clock of this machine is ahead of the store's.
          clockDifference: ?int,
          # The time of each request that succeeded, in milliseconds.
          getMilliseconds: ?float,
          putMilliseconds: ?float,
          deleteMilliseconds: ?float,
          # Whether the store refuses to create an object a second time.
          isCreationExclusive: ?bool,
          # What is wrong: the step, the store's own code, and what to do. Absent if all is well.
          problem: ?string
        )

        # Reads all entries and compares them with what was downloaded; with more, it reports progress without items. The file
        # of a damaged entry is removed, and a pinned image is downloaded again at once. The verification stops if its caller
        # disconnects.
        method Verify(
          # Whether to download all damaged entries again and wait for them.
          repair: ?bool
        ) -> (
          # The number of compared entries.
          checked: int,
          # The first 10,000 damaged entries: cached if downloaded again, missing if that is impossible because their URL is
          # lost, and otherwise with a failure: what is wrong, and whether the file was removed. Only in the last reply.
          damaged: []Item,
          # The number of entries at the start.
          total: ?int,
          # The number of damaged entries.
          damagedCount: ?int,
          # The number of damaged entries that were not repaired.
          leftCount: ?int,
          # Why the entries could not be read.
          failure: ?Failure
        )

        # Reports where the cache is, so that a client need not guess.
        method Where() -> (
          # The absolute path of the cache directory.
          directory: string,
          # The absolute path of the socket.
          socket: string,
          version: string,
          # Whether several users share the cache, so that it keeps no private images.
          shared: bool,
          # The rules that say which parts of a query do not count in the name of an image, as in the setting
          # CACHED_IGNORE_QUERY. Absent if there are none.
          ignoreQuery: ?string
        )

        # More urls than one call can name, or than one user may wait for; or, with wait: false, more downloads of one user than
        # the daemon continues on its own. Nothing was done.
        error TooMany (limit: int)
        # The user has limit connections, or all users have as many as there can be. The daemon sends this error without a
        # call, and closes the connection after it.
        error TooManyConnections (limit: int)
        # Adjust without a running Fetch with more on the connection.
        error NoStream ()
        # The daemon is stopping and accepts no new calls.
        error ShuttingDown ()
        # The message was longer than limit bytes. The daemon closes the connection after this reply.
        error MessageTooLarge (limit: int)
        # The message was not a JSON object with a method. The daemon closes the connection after this reply.
        error InvalidMessage (reason: string)

        """

    // swift-format-ignore: clients receive the text as it is, with its long lines.
    /// The text of `etc/org.varlink.service.varlink`.
    public static let service = """
        # The Varlink service interface is provided by every Varlink service: it names the service and its interfaces.
        interface org.varlink.service

        # Describes the service.
        method GetInfo() -> (
          # The maker of the service.
          vendor: string,
          # The name of the service.
          product: string,
          version: string,
          # The address of the documentation.
          url: string,
          # The names of the served interfaces.
          interfaces: []string
        )

        # Returns the description of an interface.
        method GetInterfaceDescription(
          # The name of the interface.
          interface: string
        ) -> (
          # The text of the description, including comments.
          description: string
        )

        # The service does not have this interface.
        error InterfaceNotFound (interface: string)
        # The interface does not have this method.
        error MethodNotFound (method: string)
        # The service does not implement this method.
        error MethodNotImplemented (method: string)
        # The parameter is unknown or absent, has the wrong type, or is out of range.
        error InvalidParameter (parameter: string)
        # This client is not permitted to make the call.
        error PermissionDenied ()
        # The method requires more.
        error ExpectedMore ()

        """
}
