import ArgumentParser

/// Options for a store that several machines share.
struct StoreOptions: ParsableArguments {
    @Option(
        help: """
            A bucket that several machines share, as s3://BUCKET/PREFIX: images are looked for there \
            before their servers are asked, and put there (CACHED_STORE; none by default).
            """)
    var store: String?

    @Option(
        help: """
            The server of the bucket, like https://store.example.org:8000 (CACHED_STORE_ENDPOINT; by \
            default AWS_ENDPOINT_URL_S3, else AWS_ENDPOINT_URL, else AWS itself).
            """)
    var storeEndpoint: String?

    @Option(
        help: """
            The region of the bucket (CACHED_STORE_REGION; by default AWS_REGION, else \
            AWS_DEFAULT_REGION, else us-east-1).
            """)
    var storeRegion: String?

    @Option(
        help: """
            Where the bucket's name is in a URL: path or virtual (CACHED_STORE_STYLE; virtual for \
            amazonaws.com, else path).
            """)
    var storeStyle: String?

    @Option(
        help: """
            The word none, for a public bucket. Otherwise credentials come from AWS_ACCESS_KEY_ID and \
            AWS_SECRET_ACCESS_KEY, the credential named aws of the service manager, or the file of \
            AWS (CACHED_STORE_CREDENTIALS; not set by default).
            """)
    var storeCredentials: String?

    @Option(
        help: """
            Whether the daemon may read from the bucket and write to it: read-write, read or write \
            (CACHED_STORE_MODE; read-write by default).
            """)
    var storeMode: String?

    @Option(
        help: """
            How long a download waits for the store at most before it asks its server \
            (CACHED_STORE_TIMEOUT; 1s by default).
            """)
    var storeTimeout: String?

    @Option(
        help: """
            How long the daemon goes on to put images into the store when it ends \
            (CACHED_STORE_FLUSH; 2s by default).
            """)
    var storeFlush: String?

    @Option(
        help: """
            A server's confirmation of an image is written to the store if it holds for this time \
            (CACHED_STORE_RENEW; 1h by default).
            """)
    var storeRenew: String?

    @Option(
        help: """
            A prefetch whose image is not in the store waits for a random time up to this one, so that \
            many machines do not ask a server at the same moment (CACHED_STORE_SPREAD; 5s by default).
            """)
    var storeSpread: String?

    @Option(
        help: """
            The size of the largest image that is put into the store (CACHED_STORE_MAX_IMAGE_BYTES; \
            as large as the cache takes by default).
            """)
    var storeMaxImageBytes: String?

    @Option(
        help: """
            The largest number of bytes a second that all uploads together send \
            (CACHED_STORE_MAX_RATE; by default a quarter of --max-rate, if that is set).
            """)
    var storeMaxRate: String?
}
