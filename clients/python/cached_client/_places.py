"""The name of an image's file, the cache directory, and the daemon's socket."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator

from ._item import CacheError

#: The limit of the daemon, in bytes.
LONGEST_URL = 8192

_NAMESPACE = hashlib.sha1(bytes.fromhex("6ba7b8119dad11d180b400c04fd430c8"))


def name(url: str) -> str:
    """The name of the file of a URL: its UUIDv5 in the URL namespace (RFC 9562 §5.5).

    It needs neither the daemon nor the directory. CacheError `invalidURL` if the URL has no UTF-8 form.
    """
    try:
        data = url.encode()
    except UnicodeEncodeError:
        raise CacheError("invalidURL", "the URL has a lone surrogate; percent-encode it") from None
    digest = _NAMESPACE.copy()
    digest.update(data)
    text = digest.hexdigest()
    variant = "89ab"[int(text[16], 16) & 3]
    return f"{text[:8]}-{text[8:12]}-5{text[13:16]}-{variant}{text[17:20]}-{text[20:32]}"


def check(url: str) -> None:
    """Raises CacheError `invalidURL` if the daemon would refuse the length of a URL."""
    if len(url) > LONGEST_URL or (not url.isascii() and len(url.encode(errors="replace")) > LONGEST_URL):
        raise CacheError("invalidURL", f"the URL {url[:40]}… is longer than {LONGEST_URL} bytes; shorten it")


def directory() -> str:
    """Where the cache is unless the application names a directory."""
    chosen = os.environ.get("CACHE_DIRECTORY")
    if chosen:
        return chosen
    for variable in ("HOST_XDG_CACHE_HOME", "XDG_CACHE_HOME"):
        base = os.environ.get(variable, "")
        if base.startswith("/"):
            return base + "/cached"
    return os.path.expanduser("~/.cache/cached")


def sockets() -> list[str]:
    """Where the daemon can listen unless the application names a socket, in this order."""
    chosen = os.environ.get("CACHED_SOCKET")
    return [chosen] if chosen else list(_default_sockets())


def _default_sockets() -> Iterator[str]:
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/"):
        yield runtime + "/cached/cached.sock"
    yield "/run/cached/cached.sock"
