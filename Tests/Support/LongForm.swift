import Glibc

/// Whether tests that come in two forms run in the long one, for minutes instead of seconds:
///
///     CACHED_TEST_LONG=1 swift test …
public let isLongForm = getenv("CACHED_TEST_LONG") != nil

/// What random tests begin from; a failure says it, and setting it repeats the run:
///
///     CACHED_TEST_SEED=4711 swift test …
public let testSeed =
    getenv("CACHED_TEST_SEED").flatMap { UInt64(String(cString: $0)) }
    ?? .random(in: 0..<1_000_000)
