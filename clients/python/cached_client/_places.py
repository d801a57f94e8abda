"""The name of an image's file, its variants, the cache directory, and the daemon's socket."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator

from ._item import CacheError

#: The limit of the daemon, in bytes.
LONGEST_URL = 8192
#: The sizes that the cache makes, in pixels.
SIDES = (32, 64, 128, 256, 512, 1024, 2048)

#: The daemon that serves the whole machine.
_MACHINE_SOCKET = "/run/cached/cached.sock"
_MACHINE_DIRECTORY = "/var/cache/cached"

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


def variant(url: str, side: int | None = None, account: str | None = None) -> str:
    """The URL of a variant of an image (docs/lookup/variants.md, docs/do/private-images.md): `URL#as=ada&side=256`.

    side: pixels of the longer side. The next of 32, 64, 128, 256, 512, 1024 and 2048 is taken, and above them
        the image as it is.
    account: any text of 1 to 128 bytes of UTF-8. CacheError `invalidURL` if it has no UTF-8 form.
    """
    if account is not None:
        from urllib.parse import quote
        try:
            url += "#as=" + quote(account, safe="")
        except UnicodeEncodeError:
            raise CacheError("invalidURL", "the account has a lone surrogate; choose another name") from None
    size = next((each for each in SIDES if side is not None and each >= side), None)
    return url if size is None else f"{url}{'&' if '#' in url else '#'}side={size}"


def check(url: str) -> None:
    """Raises CacheError `invalidURL` if the daemon would refuse the length of a URL."""
    if len(url) > LONGEST_URL or (not url.isascii() and len(url.encode(errors="replace")) > LONGEST_URL):
        raise CacheError("invalidURL", f"the URL {url[:40]}… is longer than {LONGEST_URL} bytes; shorten it")


def directory(socket: str | None = None) -> str:
    """Where the cache is unless the application names a directory: that of the machine's daemon if its socket is the
    first of `sockets()` that exists.

    socket: the socket that the application names.
    """
    if chosen := os.environ.get("CACHED_DIRECTORY"):
        return chosen
    found = next((each for each in ([socket] if socket else sockets()) if os.path.lexists(each)), None)
    if found == _MACHINE_SOCKET and os.path.lexists(_MACHINE_DIRECTORY):
        return _MACHINE_DIRECTORY
    return caches() + "/cached"


def caches() -> str:
    """The folder of the user's caches."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if base.startswith("/"):
        return base
    return os.environ.get("LOCALAPPDATA") or os.path.expanduser("~/.cache")


def sockets() -> list[str]:
    """Where the daemon can listen unless the application names a socket, in this order."""
    chosen = os.environ.get("CACHED_SOCKET")
    return [chosen] if chosen else list(_default_sockets())


def _default_sockets() -> Iterator[str]:
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/"):
        yield runtime + "/cached/cached.sock"
    yield _MACHINE_SOCKET
