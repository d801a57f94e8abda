import ArgumentParser

/// The options as they were typed. ``Settings`` interprets them.
struct DaemonOptions: ParsableArguments {
    @Option(
        help: """
            The configuration file, with lines like CACHED_ALLOW_NETWORK=10.0.0.0/8 \
            (~/.config/cached/cached.conf by default, or /etc/cached/cached.conf if that does not \
            exist). Files PATH.d/*.conf override it.
            """)
    var config: String?

    @Option(help: "The cache directory (CACHE_DIRECTORY; ~/.cache/cached by default).")
    var directory: String?

    @Option(
        help: """
            The path of the socket (CACHED_SOCKET; $XDG_RUNTIME_DIR/cached/cached.sock by default).
            """)
    var socket: String?

    @Option(help: "The permissions of the socket in octal (CACHED_SOCKET_MODE; 600 by default).")
    var socketMode: String?

    @Option(
        help: """
            The group whose members may connect to the socket besides its owner (CACHED_SOCKET_GROUP; \
            none by default). The permissions are 660 then by default.
            """)
    var socketGroup: String?

    @Option(
        help: """
            A group or user who may remove, pin, evict and repair images, as the owner and root may; \
            can be repeated (CACHED_MANAGERS, separated by commas; none by default).
            """)
    var managers: [String] = []

    @Option(
        help: """
            Ends the daemon when no client was connected and nothing was downloaded for this time, like \
            10min (CACHED_IDLE_EXIT; by default it runs until it is stopped).
            """)
    var idleExit: String?

    @Option(
        help: """
            A network that the daemon may connect to although it is not the public Internet, like \
            127.0.0.0/8; can be repeated (CACHED_ALLOW_NETWORK, separated by commas; none by default).
            """)
    var allowNetwork: [String] = []

    @Option(
        help: """
            What to accept besides the usual image formats: svg, or any for every kind of file \
            (CACHED_ACCEPT; nothing by default).
            """)
    var accept: String?

    @Option(
        help: """
            Whether several users share the cache, yes or no. A shared cache does not keep private \
            images (CACHED_SHARED; by default yes on the system's socket and on one that other users may connect to).
            """)
    var shared: String?

    @Option(
        help: """
            How long an image is fresh if its server does not say, like 30min \
            (CACHED_DEFAULT_FRESHNESS; 1h by default).
            """)
    var defaultFreshness: String?

    @Option(
        help: """
            Parameters of queries that do not count in the names of images, by host, like \
            cdn.example.com:sig,exp. Can be given several times (CACHED_IGNORE_QUERY; none by default).
            """)
    var ignoreQuery: [String] = []

    @Option(
        help: """
            How long a stale image is used while its server fails, if the server does not say \
            (CACHED_STALE_IF_ERROR; 24h by default).
            """)
    var staleIfError: String?

    @Option(
        help: """
            The proxy for all requests, like http://host:3128 (CACHED_PROXY; none by default, even if \
            http_proxy or similar variables are set).
            """)
    var proxy: String?

    @Option(
        help: """
            How many times a download is attempted before it fails, including the first attempt \
            (CACHED_ATTEMPTS; 4 by default).
            """)
    var attempts: String?

    @Option(
        help: """
            Whether a failure is remembered for a while, yes or no. A request during that time gets \
            the same failure without a download (CACHED_REMEMBER_FAILURES; yes by default).
            """)
    var rememberFailures: String?

    @Option(
        help: """
            The largest size of the cache on the disk, like 2GiB (CACHED_MAX_BYTES; by default 10 % of \
            the file system or 10GiB, whichever is smaller).
            """)
    var maxBytes: String?

    @Option(
        help: """
            The free space that the cache leaves on the file system for other programs, like 500MiB \
            (CACHED_MIN_FREE; by default 5 % of the file system or 1GiB, whichever is smaller).
            """)
    var minFree: String?

    @Option(
        help:
            "The largest number of images in the cache (CACHED_MAX_ENTRIES; unlimited by default).")
    var maxEntries: String?

    @Option(
        help: """
            The largest image that is accepted, like 64MiB (CACHED_MAX_IMAGE_BYTES; 64MiB by default).
            """)
    var maxImageBytes: String?

    @Option(
        help: """
            A PEM file of certificates to trust besides the system's, like that of an office's own \
            authority (CACHED_CA_FILE; none by default).
            """)
    var caFile: String?

    @Option(
        help: """
            Whether only the certificates of --ca-file are trusted, yes or no (CACHED_CA_ONLY; no by \
            default).
            """)
    var caOnly: String?

    @Option(
        help: """
            Whether the daemon gives up the rights that it does not need after its start: yes, partly (all \
            but those over files) or no (CACHED_RESTRICT; partly by default).
            """)
    var restrict: String?

    @OptionGroup var log: LogOptions

    @OptionGroup var transfers: TransferOptions

    @OptionGroup var store: StoreOptions

    @OptionGroup var pressure: PressureOptions
}
