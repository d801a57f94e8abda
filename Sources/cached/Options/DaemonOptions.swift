import ArgumentParser

/// The options as they were typed; ``Settings`` makes sense of them.
struct DaemonOptions: ParsableArguments {
    @Option(help: "The configuration file: lines like CACHED_ALLOW_NETWORK=10.0.0.0/8.")
    var config: String?

    @Option(help: "The cache directory (CACHE_DIRECTORY; ~/.cache/cached by default).")
    var directory: String?

    @Option(help: "The socket (CACHED_SOCKET; $XDG_RUNTIME_DIR/cached.sock by default).")
    var socket: String?

    @Option(help: "The socket's permissions in octal (CACHED_SOCKET_MODE; 600 by default).")
    var socketMode: String?

    @Option(
        help: """
            A network that may be connected to although it is not the public Internet, as \
            127.0.0.0/8; may be repeated (CACHED_ALLOW_NETWORK, separated by commas).
            """)
    var allowNetwork: [String] = []

    @Option(
        help: """
            What to take besides the usual image formats: svg, or any for whatever arrives \
            (CACHED_ACCEPT).
            """)
    var accept: String?

    @Option(
        help: """
            Whether several users share the cache, yes or no: private images are then not kept \
            (CACHED_SHARED; yes on the system's socket by default).
            """)
    var shared: String?

    @Option(
        help: """
            How long an image is fresh whose origin says nothing, as 30min \
            (CACHED_DEFAULT_FRESHNESS; 1h by default).
            """)
    var defaultFreshness: String?

    @Option(
        help: """
            How long a stale image is used while its origin fails, where it named no time \
            (CACHED_STALE_IF_ERROR; 24h by default).
            """)
    var staleIfError: String?

    @Option(
        help: """
            The proxy all requests go through, as http://host:3128 (CACHED_PROXY; none, whatever \
            other variables say).
            """)
    var proxy: String?

    @Option(
        help: "How often a download is attempted, the first time included (CACHED_ATTEMPTS; 4).")
    var attempts: String?

    @Option(
        help: """
            Whether a failure is for a while the answer to who asks again, yes or no \
            (CACHED_REMEMBER_FAILURES; yes by default).
            """)
    var rememberFailures: String?

    @Option(
        help: """
            What the cache may hold on the disk, as 2GiB (CACHED_MAX_BYTES; the smaller of 10 % of the \
            file system and 10GiB by default).
            """)
    var maxBytes: String?

    @Option(
        help: """
            What stays free on the file system, whoever writes to it, as 500MiB (CACHED_MIN_FREE; the \
            smaller of 5 % of it and 1GiB by default).
            """)
    var minFree: String?

    @Option(help: "How many images the cache may hold (CACHED_MAX_ENTRIES; any number by default).")
    var maxEntries: String?

    @Option(help: "The largest image taken, as 64MiB (CACHED_MAX_IMAGE_BYTES; 64MiB by default).")
    var maxImageBytes: String?

    @Option(help: "Certificates to trust instead of the system's, a PEM file (CACHED_CA_FILE).")
    var caFile: String?

    @Option(
        help: "trace, debug, info, notice, warning or error (CACHED_LOG_LEVEL; info by default).")
    var logLevel: String?

    @OptionGroup var transfers: TransferOptions

    @OptionGroup var pressure: PressureOptions
}
