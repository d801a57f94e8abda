import ArgumentParser

/// The options on memory pressure as they were typed.
struct PressureOptions: ParsableArguments {
    @Option(
        help: """
            The stall that makes a warning, as the kernel's pressure files take it \
            (CACHED_PRESSURE_WARNING; "some 200000 2000000" by default).
            """)
    var pressureWarning: String?

    @Option(
        help: """
            The stall that makes critical pressure (CACHED_PRESSURE_CRITICAL; \
            "full 200000 2000000" by default).
            """)
    var pressureCritical: String?

    @Option(
        help: """
            How much of the bytes held stays at a warning (CACHED_PRESSURE_WARNING_KEEP; \
            75% by default).
            """)
    var pressureWarningKeep: String?

    @Option(
        help: """
            How much of the bytes held stays at critical pressure (CACHED_PRESSURE_CRITICAL_KEEP; \
            50% by default).
            """)
    var pressureCriticalKeep: String?

    @Option(
        help: """
            The least time between two reactions to the same pressure, as 500ms, 10s or 5min \
            (CACHED_PRESSURE_COOL_DOWN; 10s by default).
            """)
    var pressureCoolDown: String?
}
