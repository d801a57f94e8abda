"""A cache for tests of applications: no daemon, no download, no thread."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Union

from ._cache import Cache
from ._folder import Folder, Found
from ._item import CacheError, Item
from ._load import Load
from ._places import check
from ._pressure import Pressure
from ._types import type_of_file

if TYPE_CHECKING:
    from ._stream import Stream
    from .interface import Priority

#: A path: cached. A number from 0 to 1: in flight, with that share received. CacheError: failed. None: missing.
Step = Union[str, "os.PathLike[str]", float, CacheError, None]
#: The bytes of an image whose file is not known.
_TOTAL = 1000
_NONE = CacheError("http", "the server answered with status 404", 404)


class FakeCache(Cache):
    """A `Cache` whose images are files of a test, with progress and failures by script.

        cache = FakeCache({
            "https://example.com/a.png": "tests/a.png",                                     # cached already
            "https://example.com/b.png": [0.1, 0.5, "tests/b.png"],                         # comes by steps
            "https://example.com/c.png": [CacheError("truncated", "cut"), "tests/c.png"],   # fails at first
        })

    A list begins as missing. Each step of a load takes the next one of an image that is not decided; a failure or a
    path decides it for that load. Any other URL fails as `http` with status 404. All methods of `Cache` work, and
    `pin`, `remove` and the others change the states as a daemon does.

    is_available: what `is_available` says. If it is False, what is not cached fails as `noDaemon`.
    """

    is_available: bool = True

    def __init__(self, images: Mapping[str, Step | Iterable[Step]] | None = None, *, is_available: bool = True):
        super().__init__("/nonexistent", "/nonexistent/socket", start=False)
        self.is_available = is_available
        #: The calls other than `Fetch`: pairs of a method and its parameters.
        self.calls: list[tuple[str, dict[str, Any]]] = []
        #: The pinned URLs.
        self.pinned: set[str] = set()
        self._items_by_url: dict[str, Item] = {}
        self._steps: dict[str, list[Step]] = {}
        self._loads: list[_FakeLoad] = []
        self._pressures: list[_FakePressure] = []
        self._folder = _FakeFolder(self)
        for url, script in (images or {}).items():
            self.set(url, script)

    def set(self, url: str, script: Step | Iterable[Step]) -> None:
        """Gives an image another state, or another script. Loads with `follow` report it; None evicts the image."""
        is_list = isinstance(script, Iterable) and not isinstance(script, (str, os.PathLike))
        self._steps[url] = list(script) if is_list else []  # type: ignore[arg-type]
        self._items_by_url[url] = self._item(url, None if is_list else script)  # type: ignore[arg-type]
        for load in self._loads:
            load.wake(url)

    @property
    def wanted(self) -> dict[str, Priority]:
        """The URLs that running loads want, with their priorities."""
        return {url: priority for load in self._loads for url, priority in load.wanted.items()}

    def press(self, level: str) -> None:
        """Reports a level of memory pressure to those who watch it: `normal`, `warning` or `critical`."""
        for pressure in self._pressures:
            pressure.press(level)

    # What `Cache` asks

    def pressure(self) -> Pressure:
        self._pressures = [each for each in self._pressures if not each.done]
        self._pressures.append(_FakePressure(self._daemon))
        return self._pressures[-1]

    def import_file(self, url: str, file: str | os.PathLike[str]) -> Item:
        self.set(url, file)
        return self.peek(url)

    def status(self, urls: Iterable[str]) -> list[Item]:
        return [self.peek(url) for url in urls]

    def _begin(self, *arguments: Any) -> Load:
        self._loads = [each for each in self._loads if not each.done]
        self._loads.append(_FakeLoad(self, *arguments))
        return self._loads[-1]

    def current(self, url: str) -> Item:
        """The state without a load."""
        return self._items_by_url.get(url) or Item(url, "missing")

    def has_steps(self, url: str) -> bool:
        return bool(self._steps.get(url))

    def advance(self, url: str) -> Item:
        """The next state of an image that a load wants."""
        if not self.is_available and self.current(url).state != "cached":
            return Item(url, "failed", failure=CacheError("noDaemon", "the test says that there is no daemon"))
        if self._steps.get(url):
            self._items_by_url[url] = self._item(url, self._steps[url].pop(0))
        return self.current(url)

    @staticmethod
    def _item(url: str, step: Step) -> Item:
        if step is None:
            return Item(url, "missing")
        if isinstance(step, CacheError):
            return Item(url, "failed", failure=step)
        if isinstance(step, (int, float)):
            return Item(url, "inFlight", round(step * _TOTAL), _TOTAL, phase="receiving")
        path = os.path.abspath(os.fspath(step))
        return Item(url, "cached", path=path, size=os.stat(path).st_size, media_type=type_of_file(path))

    def _items(self, method: str, parameters: dict[str, Any]) -> list[Item]:
        # Not from a message: the files of a test have any names.
        self._call(method, parameters)
        return [self.peek(url) for url in parameters["urls"]]

    def _call(self, method: str, parameters: dict[str, Any]) -> tuple[dict[str, Any], int | None]:
        """What the daemon would answer."""
        self.calls.append((method, parameters))
        if not self.is_available:
            raise CacheError("noDaemon", "the test says that there is no daemon")
        urls = list(parameters.get("urls", ()))
        if method == "Open":
            raise CacheError("notCached", f"{parameters['url']} is not cached")
        if method == "Remove":
            ending = f"#as={parameters.get('account')}"
            found = [url for url, item in self._items_by_url.items() if item.state == "cached"
                     and (url in urls or url.split("&side=")[0].endswith(ending))]
            for url in found:
                self.pinned.discard(url)
                self.set(url, None)
            return {"entries": len(found)}, None
        if parameters["pinned"]:
            self.pinned.update(url for url in urls if self.peek(url).state == "cached")
        else:
            self.pinned.difference_update(urls)
        return {}, None


class _FakeFolder(Folder):
    """A directory that holds the cached images of a fake."""

    def __init__(self, cache: FakeCache):
        super().__init__("/nonexistent")
        self._cache = cache

    def find(self, url: str) -> Found:
        check(url)
        item = self._cache.current(url)
        return Found(Item(url, "missing") if item.state == "failed" else item, is_fresh=True)


class _FakeLoad(Load):
    """A load that plays the scripts of its cache."""

    def __init__(self, cache: FakeCache, stream: Stream, *arguments: Any):
        super().__init__(cache._folder, cache._daemon, stream, *arguments)
        self._cache = cache
        #: The URLs whose state the test has set.
        self._set: set[str] = set()
        #: A byte wakes a main loop.
        self._socket, self._far = socket.socketpair()
        self._socket.setblocking(False)

    @property
    def wanted(self) -> dict[str, Priority]:
        return {} if self.done else {**self._stream.wants, **self._unseen}

    def wake(self, url: str) -> None:
        if not self.done and url in self._stream.wants:
            self._set.add(url)
            self._stream.undecided[url] = None
            self._far.send(b"\0")

    def _is_busy(self) -> bool:
        return super()._is_busy() or any(map(self._cache.has_steps, self._stream.undecided))

    def _needs_daemon(self) -> bool:
        return False

    def _prepare(self) -> None:
        for url, priority in self._unseen.items():
            self._stream.want(url, priority)
        self._unseen.clear()
        for url in list(self._stream.undecided):
            self._play(url)

    def _play(self, url: str) -> None:
        try:
            check(url)
            item = self._cache.advance(url)
        except CacheError as error:
            item = Item(url, "failed", failure=error)
        is_final = item.state in ("cached", "failed")
        if item.state == "missing" and not self._cache.has_steps(url):
            is_final = True
            if url not in self._set:
                item = Item(url, "failed", failure=_NONE)
        self._stream.report(item)
        if is_final:
            del self._stream.undecided[url]

    def _send(self, message: bytes) -> None:
        """Nobody is to be told."""

    def _exchange(self) -> None:
        try:
            while self._socket is not None and self._socket.recv(4096):
                pass
        except BlockingIOError:
            pass

    def _end(self) -> None:
        super()._end()
        if hasattr(self, "_far"):
            self._far.close()


class _FakePressure(Pressure):
    def __init__(self, daemon: Any):
        super().__init__(daemon)
        self._socket, self._far = socket.socketpair()
        self._socket.setblocking(False)
        self.press("normal")

    def press(self, level: str) -> None:
        if not self.done:
            reply = {"parameters": {"pressure": level, "items": [], "removed": []}, "continues": True}
            self._far.send(json.dumps(reply).encode() + b"\0")

    def _end(self) -> None:
        super()._end()
        if hasattr(self, "_far"):
            self._far.close()
