import ArgumentParser

/// The options about memory pressure as they were typed.
struct PressureOptions: ParsableArguments {
    @Option(
        help: """
            The stall that counts as a warning, in the format of the kernel's pressure files: some or \
            full, the stall and its window in microseconds (CACHED_PRESSURE_WARNING; \
            "some 200000 2000000" by default).
            """)
    var pressureWarning: String?

    @Option(
        help: """
            The stall that counts as critical pressure, in the same format \
            (CACHED_PRESSURE_CRITICAL; "full 200000 2000000" by default).
            """)
    var pressureCritical: String?

    @Option(
        help: """
            The share of the cached bytes that is kept at a warning (CACHED_PRESSURE_WARNING_KEEP; 75% \
            by default).
            """)
    var pressureWarningKeep: String?

    @Option(
        help: """
            The share of the cached bytes that is kept at critical pressure \
            (CACHED_PRESSURE_CRITICAL_KEEP; 50% by default).
            """)
    var pressureCriticalKeep: String?

    @Option(
        help: """
            Which pressure evicts images. auto: requests, reports of the service manager, and pressure \
            that the daemon found if evicting helps; always: all pressure; never: only requests \
            (CACHED_PRESSURE_EVICTS; auto by default).
            """)
    var pressureEvicts: String?

    @Option(
        help: """
            The shortest time between two reactions to the same pressure, like 500ms, 10s or 5min \
            (CACHED_PRESSURE_COOL_DOWN; 10s by default).
            """)
    var pressureCoolDown: String?
}
