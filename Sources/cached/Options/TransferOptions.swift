import ArgumentParser

/// Options for the number of downloads at once, and their speed.
struct TransferOptions: ParsableArguments {
    @Option(
        help: """
            The largest number of downloads at once, from 1 to 1000 (CACHED_MAX_TRANSFERS; 64 by default).
            """)
    var maxTransfers: String?

    @Option(
        help: """
            The largest number of downloads at once from one origin (scheme, host and port) that does \
            not speak HTTP/2, from 1 to 1000 (CACHED_MAX_TRANSFERS_PER_HOST; 6 by default).
            """)
    var maxTransfersPerHost: String?

    @Option(
        help: """
            The largest number of pixels of an image, so that a few bytes cannot promise more than any \
            decoder can hold (CACHED_MAX_PIXELS; 1000000000 by default).
            """)
    var maxPixels: String?

    @Option(
        help: """
            How long a server may take from the request to the end of the response's head \
            (CACHED_FIRST_BYTE_TIMEOUT; 120s by default).
            """)
    var firstByteTimeout: String?

    @Option(
        help: """
            A web or mail address at which servers can reach you. It is sent as part of the \
            User-Agent, and some hosts refuse requests without one (CACHED_CONTACT; none by default).
            """)
    var contact: String?

    @Option(
        help: """
            The whole User-Agent, in place of cached/VERSION (+CONTACT) (CACHED_USER_AGENT; none by \
            default).
            """)
    var userAgent: String?

    @Option(
        help: """
            The largest number of bytes a second that all downloads together receive, like 2MB \
            (CACHED_MAX_RATE; unlimited by default).
            """)
    var maxRate: String?
}
