import Glibc

/// Whether the tests and the programs run under a sanitizer, in many times the time and memory:
/// `make sanitize` says so. Then what is measured is not looked at.
///
///     CACHED_TEST_SANITIZED=1 swift test …
public let isSanitized = getenv("CACHED_TEST_SANITIZED") != nil
