import Glibc

/// Whether tests that come in two forms run in the long one, for minutes instead of seconds:
///
///     CACHED_TEST_LONG=1 swift test …
public let isLongForm = getenv("CACHED_TEST_LONG") != nil

/// What random tests begin from; each run says it on standard error, and setting it repeats the run:
///
///     CACHED_TEST_SEED=4711 swift test …
public let testSeed: UInt64 = {
    let seed =
        getenv("CACHED_TEST_SEED").flatMap { UInt64(String(cString: $0)) }
        ?? .random(in: 0..<1_000_000)
    let line = Array("CACHED_TEST_SEED=\(seed)\n".utf8)
    write(STDERR_FILENO, line, line.count)
    return seed
}()
