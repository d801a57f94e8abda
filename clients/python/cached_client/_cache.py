"""The cache, as an application sees it."""

from __future__ import annotations

import os
import re
import socket as sockets
import stat
import time
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from . import _places
from ._daemon import Attempt, Daemon, program, reason_in
from ._folder import Folder
from ._item import CacheError, Item
from ._load import Load
from ._places import variant
from ._pressure import Pressure
from ._stream import Stream, bad, decode, encode, read_item

if TYPE_CHECKING:
    from ._aload import AsyncChannel, AsyncLoad
    from ._plain import Plain
    from .interface import Priority

#: How a URL names a size.
_SIZE = re.compile(r"[#&]side=([0-9]+)$")
#: In bytes: 200,000 items, which is the limit of a call, need less.
_LONGEST_REPLY = 256 << 20
#: In seconds; a socket takes no longer timeout.
_LONGEST_WAIT = 1e6
#: How a file is opened for reading; Windows has other flags.
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) \
    | sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"))
#: The exit statuses of cachectl that say more than "failed".
_STATUSES = {65: "invalidURL", 77: "notPermitted"}


class Cache:
    """The images of this machine, by URL. It holds no connection and no descriptor itself.

    Several threads may use one cache; each load belongs to one thread at a time.

    directory: the cache directory; by default `$CACHED_DIRECTORY`, `/var/cache/cached` if the machine's daemon serves,
        `$XDG_CACHE_HOME/cached` or `~/.cache/cached`.
    socket: the socket of the daemon; by default `$CACHED_SOCKET`, otherwise the first of
        `$XDG_RUNTIME_DIR/cached/cached.sock` and `/run/cached/cached.sock` that accepts a connection.
    patience: seconds to wait for a daemon that does not answer, for example while it restarts.
    start: whether to start a daemon if there is none: the user's socket unit of systemd, otherwise `cached`, which
        ends when nobody has used it for ten minutes. By default, unless `$CACHED_START` is `no`.
    fallback: whether to download in this process if there is no daemon, for systems that have none: `True`, or a
        folder for the images instead of `cached-plain` in the folder of the user's caches. It has no retries,
        freshness, limits, eviction, sizes or sharing.
    """

    def __init__(self, directory: str | os.PathLike[str] | None = None,
                 socket: str | os.PathLike[str] | None = None, *, patience: float = 30.0,
                 start: bool | None = None, fallback: bool | str | os.PathLike[str] = False):
        self._folder = Folder(os.fspath(directory) if directory else _places.directory(os.fspath(socket) if socket else None))
        self._plain: Plain | None = None
        if fallback is not False:
            from ._plain import Plain
            self._plain = Plain(_places.caches() + "/cached-plain" if fallback is True else os.fspath(fallback))
        self._daemon = Daemon(self._folder.path if directory else None, os.fspath(socket) if socket else None, patience, start,
                              self._plain)

    @property
    def directory(self) -> str:
        """The absolute path of the cache directory."""
        return self._folder.path

    @property
    def is_available(self) -> bool:
        """Whether a daemon answers or can be started. It takes as long as a connection, some 50 µs."""
        return self._daemon.is_running() or self._daemon.starts and program("cached") is not None

    # States

    def peek(self, url: str, *, side: int | None = None, account: str | None = None) -> Item:
        """The state of an image in the directory, in some 10 µs, without the daemon. It counts as no use.

        An image that is queued, or failed, is `missing` here: only the daemon knows that. An interrupted
        download is `missing` with the bytes received. CacheError `storage`, `notPermitted`, `invalidURL`.
        """
        url = url if side is None and account is None else variant(url, side, account)
        item = self._folder.find(url).item
        return item if self._plain is None or item.state == "cached" else self._plain.find(url) or item

    def stand_in(self, url: str) -> Item | None:
        """The largest smaller size of an image that is cached, to be shown until the image itself is; `None` if there
        is none. Some 10 µs for each size; no daemon.

        url: of the original, or of a size of it (`URL#side=256`), than which the result is smaller.
        """
        size = _SIZE.search(url)
        stem, limit = (url[:size.start()], int(size[1])) if size else (url, 4096)
        for side in (side for side in reversed(_places.SIDES) if side < limit):
            item = self.peek(stem, side=side)
            if item.state == "cached":
                return item
        return None

    def status(self, urls: Iterable[str]) -> list[Item]:
        """The states from the daemon, in the order of the URLs, by one call; from the directory if no daemon runs.

        From some 20 images on it is faster than `peek`. It waits for the answer, and starts no daemon. CacheError
        `noDaemon` if the daemon accepts the connection and does not answer, `badReply`, or a kind of the daemon.
        """
        urls = list(urls)
        if not self._daemon.is_running():
            return [self.peek(url) for url in urls]
        return self._items("Status", {"urls": urls})

    # Images

    def get(self, url: str, priority: Priority = "normal", *, side: int | None = None, account: str | None = None,
            headers: Mapping[str, str] | None = None, timeout: float | None = None, attempts: int | None = None,
            accept: Iterable[str] | None = None, refresh: bool = False) -> Item:
        """Waits until the image is cached, and returns it. CacheError if it fails.

        In a sandbox without access to the directory, the `path` of the image is None, and `open` gets its file.
        The arguments are those of `load`.
        """
        item = None
        with self.load([url], priority, side=side, account=account, headers=headers, timeout=timeout,
                       attempts=attempts, accept=accept, refresh=refresh) as load:
            for item in load:
                pass
        if item is None or item.state != "cached":
            raise item and item.failure or CacheError("removed", f"{url} was removed; ask again")
        return item

    def refresh(self, url: str, priority: Priority = "normal", *, side: int | None = None,
                account: str | None = None, headers: Mapping[str, str] | None = None,
                timeout: float | None = None, attempts: int | None = None,
                accept: Iterable[str] | None = None) -> Item:
        """`get`, after the origin was asked whether it has a newer version.

        If the origin cannot be reached, the image stays cached, and `failure` of the result says why.
        """
        return self.get(url, priority, side=side, account=account, headers=headers, timeout=timeout,
                        attempts=attempts, accept=accept, refresh=True)

    def load(self, urls: Iterable[str] | Mapping[str, Priority], priority: Priority = "normal", *,
             follow: bool = False, side: int | None = None, account: str | None = None,
             headers: Mapping[str, str] | None = None, timeout: float | None = None, attempts: int | None = None,
             accept: Iterable[str] | None = None, refresh: bool = False) -> Load:
        """The states of images as they change, until each is cached or failed. Iterating waits.

        It connects only if an image is missing or stale, and starts a daemon if there is none. A load outlives a
        restart of the daemon. If there is no daemon, stale images are cached, and others fail as `noDaemon`.

        urls: in any order and with repetitions; or a dictionary with a priority for each.
        priority: `background`, `normal` or `visible`.
        follow: whether to go on when all are decided: to report evictions, removals and refreshes, and to
            try again what failed for a reason that passes. `want`, `add` and `drop` change the images. It ends with
            `close()`.
        side, account: the variant of each image. The items have the URLs of the variants, as `variant` makes them.
        headers: header fields of the account, `{"Authorization": "Bearer TOKEN"}` for example. They are sent to the
            origin of each URL that has to be asked.
        timeout: seconds after which the load ends; what has not come by then fails as `deadline`. Not with `follow`.
        attempts: the failed attempts after which an image fails, 1 or more; by default as many as the daemon makes.
        accept: the media types that the caller can decode, `["image/jpeg", "image/png"]` for example. Other images
            fail as `notAccepted`; they stay in the cache.
        refresh: whether to ask the origins of cached images too. Not with `follow`.
        """
        if follow and (timeout is not None or refresh):
            raise ValueError("a load with follow=True has no end and asks the origins by itself: "
                             "leave out timeout and refresh")
        if isinstance(accept, str):
            raise TypeError("accept is one text; give a list of media types")
        stream = Stream(follow, headers=headers, attempts=attempts, accept=accept, refresh=refresh)
        naming = partial(variant, side=side, account=account)
        return self._begin(stream, naming, urls, priority, timeout, refresh)

    def _begin(self, *arguments: Any) -> Load:
        return Load(self._folder, self._daemon, *arguments)

    def aload(self, urls: Iterable[str] | Mapping[str, Priority], priority: Priority = "normal", *,
              follow: bool = False, side: int | None = None, account: str | None = None,
              headers: Mapping[str, str] | None = None, timeout: float | None = None, attempts: int | None = None,
              accept: Iterable[str] | None = None, refresh: bool = False) -> AsyncLoad:
        """`load` for asyncio: `async for item in cache.aload(urls)`."""
        from ._aload import AsyncLoad
        return AsyncLoad(self.load(urls, priority, follow=follow, side=side, account=account, headers=headers,
                                   timeout=timeout, attempts=attempts, accept=accept, refresh=refresh))

    def open(self, image: str | Item) -> BinaryIO:
        """Opens the file of a cached image for reading: by its path, otherwise by a descriptor from the daemon.

        The second way is for sandboxes that see the socket and not the directory. It can wait for the
        daemon for `patience` seconds. CacheError `notCached`, `noDaemon` or another kind of the daemon.
        """
        url = image if isinstance(image, str) else image.url
        try:
            # A daemon can name any path; that of the URL in the directory is known without it.
            path = self.peek(url).path
            if path:
                return _regular(os.open(path, _READ))
        except OSError:
            pass
        except CacheError as error:
            if error.kind == "invalidURL":
                raise
        return self._open_by_daemon(url)

    def _open_by_daemon(self, url: str) -> BinaryIO:
        parameters, file = self._call("Open", {"url": url})
        if file is not None:
            return _regular(file)
        item = read_item(parameters.get("item"))
        raise item.failure or CacheError("badReply", f"the daemon handed over no file of {url}")

    # What the cache keeps

    def pin(self, *urls: str) -> list[Item]:
        """Protects cached images from eviction, until `unpin` or `remove`. The item of one that is not cached has failed.

        CacheError `noDaemon`, or a kind of the daemon.
        """
        return self._items("Pin", {"urls": urls, "pinned": True})

    def unpin(self, *urls: str) -> list[Item]:
        """Ends the protection of images."""
        return self._items("Pin", {"urls": urls, "pinned": False})

    def remove(self, *urls: str, account: str | None = None) -> int:
        """Removes images and cancels their downloads: those of the URLs, or all of an account, pinned or not.

        It returns the number of removed images. CacheError `noDaemon`, or a kind of the daemon.
        """
        if account is None and not urls:
            return 0
        if account is not None and urls:
            raise ValueError("give URLs or an account")
        try:
            parameters, _ = self._call("Remove", {"urls": urls} if account is None else {"account": account})
        except CacheError as error:
            if self._plain is None or error.kind != "noDaemon" or account is not None:
                raise
            return self._plain.remove(list(urls))
        failure = parameters.get("failure")
        if isinstance(failure, dict):
            raise CacheError(str(failure.get("kind")), str(failure.get("message")))
        count = parameters.get("entries")
        return count if isinstance(count, int) else bad("it has no number of entries")

    def import_file(self, url: str, file: str | os.PathLike[str]) -> Item:
        """Puts a whole image file under its URL, and returns the image. `cachectl import` does it, and this waits.

        It needs no daemon. An image that is already cached stays as it is. CacheError `noDaemon` if cached is not
        installed, `invalidURL`, `notPermitted`; otherwise `notImported`, with the reason of the program.
        """
        path = program("cachectl")
        if path is None:
            raise CacheError("noDaemon", "there is no program cachectl, which imports files; install cached")
        import subprocess
        words = [path, "import", *self._daemon.options, "--", url, os.path.abspath(os.fspath(file))]
        run = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if run.returncode != 0:
            reason = reason_in(run.stderr.decode(errors="replace"))
            raise CacheError(_STATUSES.get(run.returncode, "notImported"),
                             reason or f"cachectl ended with status {run.returncode}")
        return self.peek(url)

    def pressure(self) -> Pressure:
        """The levels of memory pressure: `normal`, `warning` or `critical`, now and whenever it changes.

        Give up decoded pictures at `warning`. Iterating waits; there is no end but `close()`.
        """
        return Pressure(self._daemon)

    def apressure(self) -> AsyncChannel[str]:
        """`pressure` for asyncio."""
        from ._aload import AsyncChannel
        return AsyncChannel(self.pressure())

    # Calls

    def _items(self, method: str, parameters: dict[str, Any]) -> list[Item]:
        reply, _ = self._call(method, parameters)
        items = reply.get("items")
        return [read_item(members) for members in (items if isinstance(items, list) else bad("it has no items"))]

    def _call(self, method: str, parameters: dict[str, Any]) -> tuple[dict[str, Any], int | None]:
        """The parameters of the reply, and the descriptor that came with it."""
        message = encode(method, parameters)
        files: list[int] = []
        deadline = time.monotonic() + self._daemon.patience
        try:
            with self._connect() as connection:
                connection.settimeout(max(0.001, min(deadline - time.monotonic(), _LONGEST_WAIT)))
                connection.sendall(message)
                reply = bytearray()
                while not reply.endswith(b"\0"):
                    connection.settimeout(max(0.001, min(deadline - time.monotonic(), _LONGEST_WAIT)))
                    data, received, _, _ = sockets.recv_fds(connection, 1 << 18, 4)
                    files += received
                    reply += data
                    if not data or len(reply) > _LONGEST_REPLY or len(files) > 1:
                        bad("it is cut off, too long, or has several files")
            decoded = decode(bytes(reply[:-1]))
            if decoded is None:
                raise CacheError("shuttingDown", "the daemon is stopping; try again")
            return decoded["parameters"], files.pop() if files else None
        except OSError as error:
            where = ", ".join(self._daemon.sockets)
            raise CacheError("noDaemon", f"no daemon answered at {where}: {error}") from None
        finally:
            for file in files:
                os.close(file)

    def _connect(self) -> sockets.socket:
        """A connection, to a daemon that is started if there is none. CacheError `noDaemon`."""
        attempt = Attempt(self._daemon)
        try:
            while (connection := attempt.step()) is None:
                time.sleep(max(0.0, attempt.next - time.monotonic()))
            return connection
        finally:
            attempt.close()


def _regular(file: int) -> BinaryIO:
    """A descriptor as a file object. CacheError `badReply` if it is not one of a regular file."""
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        bad("the file that it handed over is not a regular one")
    return os.fdopen(file, "rb")
