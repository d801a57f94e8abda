"""Downloads by this process alone, for systems without the daemon: `Cache(fallback=True)`.

A plain download is one request with urllib. Its length is checked, its first bytes are those of an image, and a
rename makes it visible. There are no retries, resumption, freshness, limits, eviction, sizes or sharing.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import ssl
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

from ._item import CacheError, Item
from ._places import check, name
from ._stream import write_item
from ._types import media_type, type_of_file

#: The downloads of one load that run at once, each in a thread.
_WORKERS = 4
#: Seconds without a byte, and the most bytes of an image.
_PATIENCE, _LARGEST = 30, 256 << 20
_URGENCY = {"visible": 0, "normal": 1, "background": 2}


class Plain:
    """Images in a folder of its own, by the names that the daemon gives them. Several threads may use it."""

    def __init__(self, folder: str):
        self.folder = os.path.abspath(folder)

    def path(self, url: str) -> str:
        check(url)
        return os.path.join(self.folder, name(url))

    def find(self, url: str) -> Item | None:
        """An image that was downloaded; None if there is none."""
        path = self.path(url)
        try:
            size = os.stat(path).st_size
            return Item(url, "cached", path=path, size=size, media_type=type_of_file(path)) if size else None
        except OSError:
            return None

    def remove(self, urls: list[str]) -> int:
        """Removes images, and returns their number."""
        count = 0
        for url in urls:
            try:
                os.unlink(self.path(url))
                count += 1
            except FileNotFoundError:
                pass
            except OSError as error:
                raise CacheError("storage", f"{url} cannot be removed: {error.strerror}") from None
        return count

    def connect(self) -> socket.socket:
        """A connection that answers `Fetch` and `Adjust` as the daemon does."""
        near, far = socket.socketpair()
        near.setblocking(False)
        _Session(self, far)
        return near

    def fetch(self, want: dict[str, Any], refresh: bool, report: Callable[[int, int | None], bool]) -> Item:
        """Downloads an image unless it is there. CacheError if that fails.

        report: takes the bytes received and all bytes, and returns whether the image is still wanted.
        """
        url = want["url"]
        found = None if refresh else self.find(url)
        if found:
            return found
        address, _, fragment = url.partition("#")
        if urlsplit(address).scheme not in ("http", "https"):
            raise CacheError("invalidURL", f"{url[:200]} is no URL of http or https")
        if "side=" in fragment:
            raise CacheError("underivable", "only the daemon makes smaller images; use the URL without side")
        try:
            with _open(address, want.get("headers") or {}) as response:
                return self._store(url, response, report)
        except urllib.error.HTTPError as error:
            error.close()
            raise CacheError("http", f"the server answered with status {error.code}", error.code) from None
        except http.client.HTTPException as error:
            raise CacheError("truncated", f"the answer of the server is not whole: {error!r}") from None
        except OSError as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, (TimeoutError, socket.timeout)):
                raise CacheError("timeout", f"the server sent nothing for {_PATIENCE} s") from None
            kind = "tls" if isinstance(reason, ssl.SSLError) else "unreachable"
            raise CacheError(kind, f"the server cannot be reached: {reason}") from None
        except ValueError as error:
            raise CacheError("invalidURL", f"{url[:200]}: {error}") from None

    def _store(self, url: str, response: Any, report: Callable[[int, int | None], bool]) -> Item:
        """Stores the body under the name of the URL."""
        total = response.length
        if total is None and not response.chunked:
            raise CacheError("unverifiable", "the server sends no length, so nobody knows whether the image is whole")
        path = self.path(url)
        part = None
        try:
            os.makedirs(self.folder, 0o700, exist_ok=True)
            number, part = tempfile.mkstemp(".part", name(url) + ".", self.folder)
            with open(number, "wb") as file:
                received, type_ = self._copy(response, file, total, report)
            if total is not None and received != total:
                raise CacheError("truncated", f"the connection ended after {received} of {total} bytes")
            os.replace(part, path)
            part = None
        except OSError as error:
            if not error.filename:
                raise  # Of the network.
            raise CacheError("storage", f"{self.folder} cannot be written: {error.strerror}") from None
        finally:
            if part:
                os.unlink(part)
        return Item(url, "cached", path=path, size=received, media_type=type_)

    def _copy(self, response: Any, file: Any, total: int | None,
              report: Callable[[int, int | None], bool]) -> tuple[int, str]:
        data = response.read(1 << 16)
        type_ = media_type(data[:32])
        if type_ is None:
            raise CacheError("notAnImage", "the server sent no image of a known type")
        received = 0
        while data:
            try:
                file.write(data)
                file.flush()
            except OSError as error:
                raise CacheError("storage", f"{self.folder} cannot be written: {error.strerror}") from None
            received += len(data)
            if received > _LARGEST:
                raise CacheError("tooLarge", f"the image has more than {_LARGEST} bytes")
            if not report(received, total):
                raise CacheError("removed", "the image is no longer wanted")
            data = response.read(1 << 16)
        return received, type_


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Header fields of an account go to no other origin."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        new = super().redirect_request(req, fp, code, msg, headers, newurl)
        if new is not None and urlsplit(req.full_url)[:2] != urlsplit(new.full_url)[:2]:
            new.headers.clear()
            new.unredirected_hdrs.clear()
        return new


def _open(url: str, headers: dict[str, str]) -> Any:
    """The response of a server. No handler is there for files and for FTP."""
    request = urllib.request.Request(url, headers={"User-Agent": "cached-client", **headers})
    opener = urllib.request.OpenerDirector()
    for handler in (urllib.request.ProxyHandler(), urllib.request.HTTPHandler(), urllib.request.HTTPSHandler(),
                    urllib.request.HTTPErrorProcessor(), urllib.request.HTTPDefaultErrorHandler(), _Redirects(),
                    urllib.request.UnknownHandler()):
        opener.add_handler(handler)
    return opener.open(request, timeout=_PATIENCE)


class _Session:
    """One connection. Its threads end with it."""

    def __init__(self, plain: Plain, far: socket.socket):
        self._plain, self._far = plain, far
        self._changed = threading.Condition()
        #: All that is wanted, what no thread has taken yet, and the last states.
        self._wants: dict[str, dict[str, Any]] = {}
        self._queue: dict[str, dict[str, Any]] = {}
        self._items: dict[str, dict[str, Any]] = {}
        self._refreshes, self._follows, self._is_open = False, False, True
        for target in (self._read, *[self._work] * _WORKERS):
            threading.Thread(target=target, daemon=True).start()

    def _read(self) -> None:
        buffer = b""
        try:
            while data := self._far.recv(1 << 16):
                *messages, buffer = (buffer + data).split(b"\0")
                for message in messages:
                    self._take(**json.loads(message)["parameters"])
        except OSError:
            pass
        with self._changed:
            self._is_open = False
            self._wants.clear()
            self._queue.clear()
            self._far.close()
            self._changed.notify_all()

    def _take(self, wants: Iterable[dict[str, Any]] = (), add: Iterable[dict[str, Any]] = (),
              drop: Iterable[str] = (), refresh: bool = False, follow: bool = False) -> None:
        with self._changed:
            self._refreshes, self._follows = self._refreshes or refresh, self._follows or follow
            for url in drop:
                self._wants.pop(url, None)
                self._queue.pop(url, None)
            for want in (*wants, *add):
                self._wants[want["url"]] = self._queue[want["url"]] = want
            self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                while self._is_open and not self._queue:
                    self._changed.wait()
                if not self._is_open:
                    return
                url = min(self._queue, key=lambda each: _URGENCY[self._queue[each].get("priority", "normal")])
                want = self._queue.pop(url)
            try:
                item = self._plain.fetch(want, self._refreshes, lambda *progress: self._report(url, *progress))
            except CacheError as error:
                item = Item(url, "failed", failure=error)
            except Exception as error:  # A fault of a library must not leave the caller waiting.
                item = Item(url, "failed", failure=CacheError("protocolError", repr(error)[:300]))
            self._tell(item)

    def _report(self, url: str, received: int, total: int | None) -> bool:
        if url in self._wants:
            self._tell(Item(url, "inFlight", received, total, phase="receiving"))
        return url in self._wants

    def _tell(self, item: Item) -> None:
        with self._changed:
            if item.url not in self._wants:
                return
            self._items[item.url] = members = write_item(item)
            is_last = not self._follows and all(
                self._items.get(url, {}).get("state") in ("cached", "missing") for url in self._wants)
            items = [self._items[url] for url in self._wants] if is_last else [members]
            try:
                self._far.sendall(json.dumps({"parameters": {"items": items}, "continues": not is_last}).encode() + b"\0")
            except OSError:
                self._is_open = False
                self._changed.notify_all()
