import ArgumentParser

/// Options for how much is downloaded at once, and how fast.
struct TransferOptions: ParsableArguments {
    @Option(
        help: """
            Downloads at once, the last eighth for what is visible and for clients that have none \
            (CACHED_MAX_TRANSFERS; 64 by default).
            """)
    var maxTransfers: String?

    @Option(
        help: """
            Downloads at once from one host that does not speak HTTP/2, the last one only for what is \
            visible and for clients that have none (CACHED_MAX_TRANSFERS_PER_HOST; 6 by default).
            """)
    var maxTransfersPerHost: String?

    @Option(
        help: """
            Bytes of images a second, all downloads together, as 2MB (CACHED_MAX_RATE; as fast as it \
            goes by default).
            """)
    var maxRate: String?
}
