extension Figure {
    /// Figures that are text, and not metrics. The first three are labels of `cached_build_info`.
    static let texts = [
        "version", "curlVersion", "build", "directory", "socket", "pressureSource",
        "pressureLastSource", "pressureLastLevel", "pressureLastReason", "userAgent", "proxy",
        "trustFile", "trustDirectory", "storeLocation", "storeEndpoint", "storeLastError",
    ]

    /// All figures that are metrics, in the order of docs/lookup/stats.md. Units are bytes and seconds.
    static let all = daemon + cache + requests + removed + pressure + store

    private static let daemon = [
        Figure("startedAt", "start_time_seconds", .gauge, "When the daemon started (Unix time)."),
        Figure("uptimeSeconds", "uptime_seconds", .gauge, "Time since the daemon started."),
        Figure(
            "processorSeconds", "processor_seconds_total", .counter,
            "Processor time of all threads."),
        Figure(
            "residentBytes", "resident_memory_bytes", .gauge,
            "Memory of the process, with pages of files."),
        Figure(
            "anonymousBytes", "anonymous_memory_bytes", .gauge,
            "Memory of the process, without pages of files."),
        Figure("connections", "connections", .gauge, "Connected clients."),
        Figure("calls", "calls_total", .counter, "Calls of clients."),
        Figure("watchers", "watchers", .gauge, "Streams that report changes to clients."),
        Figure(
            "changesEncoded", "changes_encoded_total", .counter,
            "Changes encoded for streams, each once for all of them."),
        Figure("hasContact", "contact", .flag, "Whether requests say whom to contact."),
    ]

    private static let cache = [
        Figure("entries", "entries", .gauge, "Cached images."),
        Figure("partials", "partial_downloads", .gauge, "Interrupted downloads that are kept."),
        Figure(
            "bytesUsed", "used_bytes", .gauge,
            "Disk space of images and partial downloads."),
        Figure("bytesBudget", "budget_bytes", .gauge, "The limit of --max-bytes."),
        Figure("bytesMinFree", "free_minimum_bytes", .gauge, "The limit of --min-free."),
        Figure(
            "bytesAllowed", "allowed_bytes", .gauge,
            "The limit now: the budget, or less if the file system is nearly full."),
        Figure(
            "bytesReserved", "reserved_bytes", .gauge,
            "Disk space reserved for running downloads."),
        Figure("entriesPinned", "pinned_entries", .gauge, "Images that are never evicted."),
        Figure("bytesPinned", "pinned_bytes", .gauge, "Disk space of pinned images."),
        Figure(
            "entriesShared", "shared_entries", .gauge,
            "Images whose bytes are in the file of another one."),
        Figure(
            "bytesShared", "shared_bytes", .gauge,
            "Disk space that files of their own would take for these images."),
        Figure("isIndexed", "directory_indexed", .flag, "Whether the directory was read."),
        Figure(
            "isDirectoryInPlace", "directory_in_place", .flag,
            "Whether the configured path leads to the open directory."),
        Figure(
            "isDirectoryWritable", "directory_writable", .flag,
            "Whether the file system of the directory is mounted writable."),
    ]

    private static let requests = [
        Figure("transfersRunning", "transfers_running", .gauge, "Downloads that are running."),
        Figure("transfersQueued", "transfers_queued", .gauge, "Downloads that wait for a slot."),
        Figure("bytesReceived", "received_bytes_total", .counter, "Bytes of images received."),
        Figure("hits", "hits_total", .counter, "Requests for images that were cached."),
        Figure(
            "misses", "misses_total", .counter,
            "Requests for images that had to be downloaded or confirmed."),
        Figure("joined", "joined_total", .counter, "Misses that joined a running download."),
        Figure("published", "published_total", .counter, "Downloads that became images."),
        Figure("derived", "derived_total", .counter, "Images that were made of larger ones."),
        Figure("revalidated", "revalidated_total", .counter, "Images that origins confirmed."),
        Figure(
            "staleAnswers", "stale_answers_total", .counter,
            "Requests answered with a stale image because the origin failed."),
        Figure("retried", "retried_total", .counter, "Failed attempts that were repeated."),
        Figure("failed", "failed_downloads_total", .counter, "Downloads that failed in the end."),
        Figure(
            "failuresRepeated", "repeated_failures_total", .counter,
            "Requests answered with a remembered failure."),
        Figure("refused", "refused_total", .counter, "Downloads refused for lack of room."),
    ]

    private static let removed = [
        Figure("evicted", "evicted_entries_total", .counter, "Images evicted."),
        Figure("bytesEvicted", "evicted_bytes_total", .counter, "Disk space of evicted images."),
        Figure("removed", "removed_total", .counter, "Images removed at a caller's request."),
        Figure(
            "withdrawn", "withdrawn_total", .counter,
            "Images removed because their origin withdrew them."),
        Figure("damaged", "damaged_total", .counter, "Images found damaged."),
        Figure(
            "pagesDroppedEntries", "dropped_pages_entries_total", .counter,
            "Images whose pages were dropped from memory."),
        Figure(
            "pagesDroppedBytes", "dropped_pages_bytes_total", .counter,
            "Bytes of images whose pages were dropped from memory."),
    ]

    private static let store = [
        Figure(
            "storeState", "store_state", .word(["ok", "late", "refused"]),
            "How downloads use the store: 0 ok, 1 too late, 2 refused."),
        Figure(
            "storeWriteState", "store_write_state", .word(["ok", "late", "refused"]),
            "How images are put into the store: 0 ok, 1 too late, 2 refused."),
        Figure(
            "storeLastErrorAt", "store_last_error_timestamp_seconds", .gauge,
            "When the store last failed (Unix time)."),
        Figure("storeLookups", "store_lookups_total", .counter, "Questions to the store."),
        Figure(
            "storeHits", "store_hits_total", .counter,
            "Images that the store had, and that it confirmed."),
        Figure("storeStale", "store_stale_total", .counter, "Objects that were stale."),
        Figure("storeMisses", "store_misses_total", .counter, "Images that the store had not."),
        Figure(
            "storeClaims", "store_claims_total", .counter,
            "Images that this machine announced to others before it downloaded them."),
        Figure(
            "storeAwaited", "store_awaited_total", .counter,
            "Answers that another machine downloads the image."),
        Figure(
            "storeLate", "store_late_total", .counter,
            "Answers of the store that were late, or failures."),
        Figure("storeRefused", "store_refused_total", .counter, "Refusals of the store."),
        Figure("storeBad", "store_bad_total", .counter, "Objects that were wrong."),
        Figure(
            "bytesFromStore", "store_received_bytes_total", .counter,
            "Bytes of images from the store."),
        Figure("storeUploads", "store_uploads_total", .counter, "Images put into the store."),
        Figure(
            "bytesToStore", "store_sent_bytes_total", .counter,
            "Bytes of images put into the store."),
        Figure(
            "storeUploadsThere", "store_uploads_there_total", .counter,
            "Uploads of images that others had put there."),
        Figure(
            "storeDropped", "store_dropped_total", .counter,
            "Writes to the store that were given up."),
        Figure("storeQueued", "store_queued", .gauge, "Writes to the store that wait."),
        Figure(
            "storeRenewed", "store_renewed_total", .counter,
            "Objects whose freshness was written again."),
        Figure("storeDeleted", "store_deleted_total", .counter, "Objects deleted."),
    ]

    private static let pressure = [
        Figure(
            "pressureLevel", "pressure_level", .word(["normal", "warning", "critical"]),
            "Memory pressure: 0 normal, 1 warning, 2 critical."),
        Figure(
            "pressureReactions", "pressure_reactions_total", .counter,
            "Reactions to memory pressure."),
        Figure(
            "pressureLastAt", "pressure_last_timestamp_seconds", .gauge,
            "When the last reaction ended (Unix time)."),
        Figure(
            "pressureLastEntries", "pressure_last_evicted_entries", .gauge,
            "Images evicted by the last reaction."),
        Figure(
            "pressureLastBytes", "pressure_last_evicted_bytes", .gauge,
            "Disk space of images evicted by the last reaction."),
        Figure(
            "pressureLastDroppedEntries", "pressure_last_dropped_entries", .gauge,
            "Images whose pages the last reaction dropped."),
        Figure(
            "pressureLastDroppedBytes", "pressure_last_dropped_bytes", .gauge,
            "Bytes of images whose pages the last reaction dropped."),
        Figure(
            "pressureLastAvailable", "pressure_last_available_bytes", .gauge,
            "Memory available after the last reaction; 0 if unknown."),
        Figure(
            "pressureLastMachine", "pressure_last_machine_bytes", .gauge,
            "Memory of the machine at the last reaction; 0 if unknown."),
        Figure(
            "pressureLastGroupUsed", "pressure_last_group_used_bytes", .gauge,
            "Memory of the control group at the last reaction; 0 without a limit."),
        Figure(
            "pressureLastGroupLimit", "pressure_last_group_limit_bytes", .gauge,
            "Limit of the control group at the last reaction; 0 without one."),
        Figure(
            "pressureLastMilliseconds", "pressure_last_duration_seconds", .thousandths,
            "How long the last reaction took."),
    ]
}
