"""The cache, as an application sees it."""

from __future__ import annotations

import os
import re
import socket as sockets
import stat
import time
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO

from . import _places
from ._aload import AsyncLoad
from ._folder import Folder
from ._item import CacheError, Item
from ._load import Load
from ._stream import bad, decode, encode, read_item
from .interface import Priority

#: The sizes that the cache makes, and how a URL names one.
_SIDES = (2048, 1024, 512, 256, 128, 64, 32)
_SIZE = re.compile(r"[#&]side=([0-9]+)$")
#: In bytes: 200,000 items, which is the limit of a call, need less.
_LONGEST_REPLY = 256 << 20


class Cache:
    """The images of this machine, by URL. It holds no connection and no descriptor itself.

    directory: the cache directory; by default `$CACHE_DIRECTORY`, `$HOST_XDG_CACHE_HOME/cached`,
        `$XDG_CACHE_HOME/cached` or `~/.cache/cached`.
    socket: the socket of the daemon; by default `$CACHED_SOCKET`, otherwise the first of
        `$XDG_RUNTIME_DIR/cached/cached.sock` and `/run/cached/cached.sock` that accepts a connection.
    patience: seconds to wait for a daemon that does not answer, for example while it restarts.
    """

    def __init__(self, directory: str | os.PathLike[str] | None = None,
                 socket: str | os.PathLike[str] | None = None, *, patience: float = 30.0):
        self._folder = Folder(os.fspath(directory) if directory else _places.directory())
        self._sockets = [os.fspath(socket)] if socket else _places.sockets()
        self._patience = patience

    @property
    def directory(self) -> str:
        """The absolute path of the cache directory."""
        return self._folder.path

    def peek(self, url: str) -> Item:
        """The state of an image in the directory, in some 10 µs, without the daemon. It counts as no use.

        An image that is queued, or failed, is `missing` here: only the daemon knows that. An interrupted
        download is `missing` with the bytes received. CacheError `storage`, `notPermitted`, `invalidURL`.
        """
        return self._folder.find(url).item

    def stand_in(self, url: str) -> Item | None:
        """The largest smaller size of an image that is cached, to be shown until the image itself is; `None` if there
        is none. Some 10 µs for each size; no daemon.

        url: of the original, or of a size of it (`URL#side=256`), than which the result is smaller.
        """
        size = _SIZE.search(url)
        stem, limit = (url[:size.start()], int(size[1])) if size else (url, 4096)
        for side in (side for side in _SIDES if side < limit):
            item = self.peek(f"{stem}{'&' if '#' in stem else '#'}side={side}")
            if item.state == "cached":
                return item
        return None

    def status(self, urls: Iterable[str]) -> list[Item]:
        """The states from the daemon, in the order of the URLs, by one call; from the directory if no daemon runs.

        From some 20 images on it is faster than `peek`. It waits for the answer. CacheError `noDaemon` if
        the daemon accepts the connection and does not answer, `badReply`, or a kind of the daemon.
        """
        urls = list(urls)
        if not self._is_running():
            return [self.peek(url) for url in urls]
        parameters, file = self._call("Status", {"urls": urls})
        if file is not None:
            os.close(file)
        items = parameters.get("items")
        return [read_item(members) for members in (items if isinstance(items, list) else bad("it has no items"))]

    def _is_running(self) -> bool:
        try:
            self._connect(0).close()
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True

    def get(self, url: str, priority: Priority = "normal", *, headers: Mapping[str, str] | None = None) -> Item:
        """Waits until the image is cached, and returns it. CacheError if it fails.

        headers: as for `load`.
        """
        item = None
        with self.load([url], priority, headers=headers) as load:
            for item in load:
                pass
        if item is None or item.state != "cached":
            raise item and item.failure or CacheError("removed", f"{url} was removed; ask again")
        return item

    def load(self, urls: Iterable[str] | Mapping[str, Priority], priority: Priority = "normal", *,
             follow: bool = False, headers: Mapping[str, str] | None = None) -> Load:
        """The states of images as they change, until each is cached or failed. Iterating waits.

        It connects only if an image is missing or stale. A load outlives a restart of the daemon. If
        no daemon answers for `patience` seconds, stale images are cached, and others fail as `noDaemon`.

        urls: in any order and with repetitions; or a dictionary with a priority for each.
        priority: `background`, `normal` or `visible`.
        follow: whether to go on when all are decided: to report evictions, removals and refreshes, and to
            try again what failed for a reason that passes. `Load.show` changes the images. It ends with
            `close()`.
        headers: header fields of an account, `{"Authorization": "Bearer TOKEN"}` for example. The URLs name the
            account, as `URL#as=ada`. They are sent to the origin of each URL that has to be asked.
        """
        return Load(self._folder, self._sockets, self._patience, urls, priority, follow, headers)

    def aload(self, urls: Iterable[str] | Mapping[str, Priority], priority: Priority = "normal", *,
              follow: bool = False, headers: Mapping[str, str] | None = None) -> AsyncLoad:
        """`load` for asyncio: `async for item in cache.aload(urls)`."""
        return AsyncLoad(self.load(urls, priority, follow=follow, headers=headers))

    def open(self, image: str | Item) -> BinaryIO:
        """Opens the file of a cached image for reading: by its path, otherwise by a descriptor from the daemon.

        The second way is for sandboxes that see the socket and not the directory. It can wait for the
        daemon for `patience` seconds. CacheError `notCached`, `noDaemon` or another kind of the daemon.
        """
        url = image if isinstance(image, str) else image.url
        path = image.path if isinstance(image, Item) else None
        try:
            path = path or self.peek(url).path
            if path:
                return _regular(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))
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

    def _call(self, method: str, parameters: dict[str, Any]) -> tuple[dict[str, Any], int | None]:
        """The parameters of the reply, and the descriptor that came with it."""
        files: list[int] = []
        connection, deadline = None, time.monotonic() + self._patience
        try:
            connection = self._connect(deadline)
            connection.sendall(encode(method, parameters))
            reply = bytearray()
            while not reply.endswith(b"\0"):
                connection.settimeout(max(0.001, deadline - time.monotonic()))
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
            raise CacheError("noDaemon", f"no daemon answered at {', '.join(self._sockets)}: {error}") from None
        finally:
            for file in files:
                os.close(file)
            if connection is not None:
                connection.close()

    def _connect(self, deadline: float) -> sockets.socket:
        """A connection to the first socket at which there is a daemon. OSError if none accepts in time."""
        while True:
            for path in self._sockets:
                connection = sockets.socket(sockets.AF_UNIX)
                try:
                    connection.settimeout(max(0.001, deadline - time.monotonic()))
                    connection.connect(path)
                    return connection
                except (OSError, ValueError) as problem:
                    error = problem
                    connection.close()
                    if isinstance(problem, BlockingIOError):
                        # A daemon runs, but too many clients wait for it.
                        break
            if time.monotonic() >= deadline:
                raise error if isinstance(error, OSError) else OSError(str(error))
            time.sleep(min(0.05, self._patience))


def _regular(file: int) -> BinaryIO:
    """A descriptor as a file object. CacheError `badReply` if it is not one of a regular file."""
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        bad("the file that it handed over is not a regular one")
    return os.fdopen(file, "rb")
