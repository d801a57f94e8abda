"""A `Load`, or `Cache.pressure()`, in the main loop of GLib: for GTK, without threads. Needs PyGObject."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gi.repository import GLib  # type: ignore[import-not-found]

from ._channel import Channel
from .interface import Priority

_READ = GLib.IOCondition.IN | GLib.IOCondition.HUP | GLib.IOCondition.ERR


class LoadWatch:
    """Calls a function with each item that changes, in the default main context, whose thread owns it.

        watch = LoadWatch(cache.load(urls, follow=True), show)

    It begins at the next turn of the main loop, and ends when the load is done or by `close()`. It has two
    sources: the descriptor of the connection, and a timer.
    """

    def __init__(self, load: Channel[Any], on_item: Callable[[Any], None]):
        self._load, self._on_item = load, on_item
        self._sources: list[int] = []
        self._is_closed = False
        self._arm()

    def want(self, urls: Iterable[str] | Mapping[str, Priority], priority: Priority | None = None) -> None:
        """`Load.want`."""
        self._change("want", urls, priority)

    def add(self, urls: Iterable[str] | Mapping[str, Priority], priority: Priority | None = None) -> None:
        """`Load.add`."""
        self._change("add", urls, priority)

    def drop(self, urls: Iterable[str]) -> None:
        """`Load.drop`."""
        self._change("drop", urls)

    def _change(self, verb: str, *arguments: Any) -> None:
        self._disarm()
        getattr(self._load, verb)(*arguments)
        self._arm()

    def close(self) -> None:
        """`Load.close`. The function is not called again."""
        self._is_closed = True
        self._disarm()
        self._load.close()

    @property
    def done(self) -> bool:
        """Whether nothing more will be reported."""
        return self._load.done

    def _ready(self, *_: object) -> bool:
        self._disarm()
        self._load.step()
        try:
            while not self._is_closed and (item := self._load.pop()) is not None:
                self._on_item(item)
        finally:
            self._disarm()
            self._arm()
        return False

    def _arm(self) -> None:
        if self._load.done:
            return
        timeout, file = self._load.timeout(), self._load.fileno()
        if timeout is not None:
            self._sources.append(GLib.timeout_add(int(timeout * 1000) + bool(timeout), self._ready))
        if file >= 0:
            condition = _READ | GLib.IOCondition.OUT if self._load.wants_write else _READ
            self._sources.append(GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, file, condition, self._ready))

    def _disarm(self) -> None:
        """Removes the sources, before the descriptor can be closed."""
        for source in self._sources:
            GLib.source_remove(source)
        self._sources.clear()
