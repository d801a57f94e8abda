"""The state of one image, and the error if there is none."""

from __future__ import annotations

from typing import NamedTuple


class CacheError(Exception):
    """Why something failed: `kind` for programs, and `str(error)` for people.

    The kinds of the daemon are in docs/lookup/failures.md, for example `http` or
    `notAnImage`. These are made here:

    noDaemon      there is no daemon, and none can be started; or it did not answer for as long as `patience`
    deadline      the image has not come within the `timeout` of the call
    notAccepted   the image has a type that the caller does not accept
    badReply      the answer from the socket is not one of the daemon
    storage       the cache directory is a symbolic link, not a directory, or cannot be read
    notPermitted  the cache directory belongs to another user, or the file cannot be opened
    notCached     there is no file to open
    invalidURL    the URL is longer than 8,192 bytes, or has no UTF-8 form
    tooMany       more URLs than one call can name
    forked        the load belongs to the parent of this process
    """

    def __init__(self, kind: str, message: str, http_status: int | None = None,
                 retry_at: int | None = None):
        super().__init__(message)
        self.kind = kind
        #: One sentence for people.
        self.message = message
        #: The HTTP status of the origin's response, if there was one.
        self.http_status = http_status
        #: Unix seconds before which the cache does not ask the origin again, if known.
        self.retry_at = retry_at

    def _key(self) -> tuple[str, str, int | None, int | None]:
        return (self.kind, self.message, self.http_status, self.retry_at)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CacheError) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[type, tuple[str, str, int | None, int | None]]:
        return (CacheError, self._key())


class Item(NamedTuple):
    """The state of one image."""

    #: The URL, as it was given.
    url: str
    #: `missing`, `inFlight`, `cached` or `failed`.
    state: str
    #: Bytes received so far. If the image is missing, an interrupted download left them and can perhaps continue.
    received: int | None = None
    #: Bytes of the whole image; None while unknown.
    total: int | None = None
    #: The absolute path of the file, if the image is cached. A file there is never changed in place. None in a
    #: sandbox that cannot read it: `Cache.open` gets the file all the same.
    path: str | None = None
    #: The length of the file in bytes, if the image is cached.
    size: int | None = None
    #: The reason why the image failed, or why a cached one could not be refreshed.
    failure: CacheError | None = None
    #: `queued`, `connecting`, `receiving`, `retrying`, `deriving` or `publishing`, if the daemon reports it.
    phase: str | None = None
    #: For example `image/png`, if known.
    media_type: str | None = None
    #: In pixels as a viewer shows the image, if known.
    width: int | None = None
    #: In pixels as a viewer shows the image, if known.
    height: int | None = None

    @property
    def fraction(self) -> float | None:
        """The received share, 0 to 1; None while the total is unknown."""
        if self.state == "cached":
            return 1.0
        return min(1.0, (self.received or 0) / self.total) if self.total else None
