import Glibc

/// Whether the tests and programs run under a sanitizer, which multiplies their time and memory.
/// `make sanitize` sets it. Time and memory are not checked then.
///
///     CACHED_TEST_SANITIZED=1 swift test …
public let isSanitized = getenv("CACHED_TEST_SANITIZED") != nil
