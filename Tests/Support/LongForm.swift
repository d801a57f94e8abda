import Glibc

/// Whether tests that come in two forms run in the long one, for minutes instead of seconds:
///
///     CACHED_TEST_LONG=1 swift test …
public let isLongForm = getenv("CACHED_TEST_LONG") != nil
