"""Images on their way."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from ._channel import Channel
from ._daemon import Daemon
from ._folder import Folder
from ._item import CacheError, Item
from ._stream import Stream, encode

if TYPE_CHECKING:
    from .interface import Priority

#: Images that one step looks up in the directory, so that it takes a few milliseconds at most.
_LOOKS = 200
_PRIORITIES = ("background", "normal", "visible")


class Load(Channel[Item]):
    """The changing states of some images, until each is cached or has failed.

    Iterate over it, or let a main loop drive it: wait until `fileno()` is readable (and writable if
    `wants_write`) or `timeout()` is over, call `step()`, then `pop()` until it returns None. No call but
    the iteration waits. The downloads end with `close()`, with the `with` block, or with the object,
    unless another program wants them too. One thread at a time may use a load.
    """

    _stream: Stream

    def __init__(self, folder: Folder, daemon: Daemon, stream: Stream, naming: Callable[[str], str],
                 urls: Iterable[str] | Mapping[str, Priority], priority: Priority, timeout: float | None,
                 asks: bool):
        super().__init__(daemon, stream)
        self._folder, self._naming, self._priority = folder, naming, priority
        #: Whether the directory has no say.
        self._asks = asks
        #: When the load ends, on the monotonic clock, and after how many seconds.
        self._limit = None if timeout is None else time.monotonic() + timeout
        self._seconds = timeout
        #: Wanted images that were not looked up in the directory yet, with their priorities.
        self._unseen: dict[str, Priority] = {}
        #: Stale images that are used if no daemon answers.
        self._stale: dict[str, Item] = {}
        self._unseen.update(self._with_priorities(urls, priority))

    # The set of images, of a load with `follow`

    def want(self, urls: Iterable[str] | Mapping[str, Priority], priority: Priority | None = None) -> None:
        """Wants these images and no others; only of a load with `follow`.

        Downloads of images that are in both sets go on. `urls` can be a dictionary with a priority each.
        """
        new = self._with_priorities(urls, priority or self._priority)
        self._change(new, [url for url in (*self._stream.wants, *self._unseen) if url not in new])

    def add(self, urls: Iterable[str] | Mapping[str, Priority], priority: Priority | None = None) -> None:
        """Wants these images too; one that is wanted gets the priority. Only of a load with `follow`."""
        self._change(self._with_priorities(urls, priority or self._priority), [])

    def drop(self, urls: Iterable[str]) -> None:
        """Wants these images no longer; only of a load with `follow`."""
        self._change({}, list(self._with_priorities(urls, self._priority)))

    def _change(self, new: dict[str, Priority], dropped: list[str]) -> None:
        if not self._stream.follow:
            raise ValueError("only a load with follow=True can change its images")
        if self.done:
            return
        gone = [url for url in dropped if url in self._stream.wants]
        for url in dropped:
            self._unseen.pop(url, None)
            self._stale.pop(url, None)
            self._stream.drop(url)
        self._unseen.update((url, new[url]) for url in new if self._stream.wants.get(url) != new[url])
        if gone and self._socket is not None and self._is_ours():
            self._guarded(lambda: self._send(encode("Adjust", {"drop": gone}, oneway=True)))

    def _with_priorities(self, urls: Iterable[str] | Mapping[str, Priority],
                         priority: Priority) -> dict[str, Priority]:
        if isinstance(urls, str):
            raise TypeError("urls is one text; give a list of URLs")
        pairs = dict(urls) if isinstance(urls, Mapping) else dict.fromkeys(urls, priority)
        for value in pairs.values():
            if value not in _PRIORITIES:
                raise ValueError(f"{value!r} is no priority; use one of {', '.join(_PRIORITIES)}")
        return {self._naming(url): value for url, value in pairs.items()}

    # What `Channel` asks

    def timeout(self) -> float | None:
        """Seconds until `step()` has something to do even if the descriptor is silent; None: never."""
        due = super().timeout()
        if self.done or self._limit is None:
            return due
        left = max(0.0, self._limit - time.monotonic())
        return left if due is None else min(due, left)

    def step(self) -> None:
        """Does what can be done without waiting. It raises nothing: failures are items."""
        super().step()
        if self._limit is not None and not self.done and time.monotonic() >= self._limit:
            self._stream.fail(CacheError("deadline", f"the image has not come within {self._seconds:g} s"))
            self._end()

    def pop(self) -> Item | None:
        """The next item that changed; None if there is none at the moment."""
        item = super().pop()
        if item is None or item.path is None or os.access(item.path, os.R_OK):
            return item
        # A sandbox that does not see the directory. `Cache.open` gets the file as a descriptor.
        return item._replace(path=None)

    def _is_busy(self) -> bool:
        return bool(self._unseen) or self._stream.has_changes

    def _needs_daemon(self) -> bool:
        return bool(self._stream.asked) and not self._unseen

    def _is_complete(self) -> bool:
        return not self._stream.follow and not self._stream.undecided and not self._unseen

    def _lacks_daemon(self) -> None:
        for url, item in self._stale.items():
            self._stream.report(item)
            if not self._stream.follow:
                self._stream.undecided.pop(url, None)
        self._stale.clear()

    def _answered(self) -> None:
        self._stale.clear()

    def _prepare(self) -> None:
        added = []
        for url in list(self._unseen)[:_LOOKS]:
            priority = self._unseen.pop(url)
            is_new = url not in self._stream.wants
            if not is_new or self._is_asked(url):
                self._stream.want(url, priority)
                added.append((url, priority))
        if added and self._socket is not None:
            self._send(encode("Adjust", {"add": self._stream.calls_for(added)}, oneway=True))

    def _is_asked(self, url: str) -> bool:
        """Whether the daemon has to be asked about an image; otherwise its state was reported."""
        try:
            item, is_fresh, is_strict = self._folder.find(url)
        except CacheError as error:
            if error.kind == "invalidURL":
                self._stream.report(Item(url, "failed", failure=error))
            return error.kind != "invalidURL"
        if item.state != "cached" or self._asks:
            return True
        if is_fresh or self._stream.follow:
            self._stream.report(item)
            return self._stream.follow
        if not is_strict:
            self._stale[url] = item
        return True
