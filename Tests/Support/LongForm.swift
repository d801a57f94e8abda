import Glibc

/// Whether tests that have a short and a long form run the long one, which takes minutes:
///
///     CACHED_TEST_LONG=1 swift test …
public let isLongForm = getenv("CACHED_TEST_LONG") != nil

/// The seed of random tests. Each run prints it on standard error; setting it repeats the run:
///
///     CACHED_TEST_SEED=4711 swift test …
public let testSeed: UInt64 = {
    let seed =
        getenv("CACHED_TEST_SEED").flatMap { UInt64(String(cString: $0)) }
        ?? .random(in: 0..<1_000_000)
    let line = Array("CACHED_TEST_SEED=\(seed)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
    return seed
}()
