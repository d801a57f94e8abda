"""A `Load` in the main loop of GLib: for GTK, without threads. Needs PyGObject."""

from __future__ import annotations

from collections.abc import Callable

from gi.repository import GLib

from ._item import Item
from ._load import Load

_READ = GLib.IOCondition.IN | GLib.IOCondition.HUP | GLib.IOCondition.ERR


class LoadSource(GLib.Source):
    """Calls a function with each item that changes. It destroys itself when the load is done.

        source = LoadSource(cache.load(urls, follow=True), show)
        source.attach(None)

    `destroy()` ends the load, too.
    """

    def __init__(self, load: Load, on_item: Callable[[Item], None]):
        super().__init__()
        self.load, self._on_item = load, on_item
        self._file, self._tag, self._condition = -1, None, None
        self.set_ready_time(0)

    def prepare(self):
        self._watch()
        timeout = self.load.timeout()
        return self.load.done or timeout == 0, -1 if timeout is None else int(timeout * 1000) + 1

    def check(self):
        timeout = self.load.timeout()
        is_readable = self._tag is not None and bool(self.query_unix_fd(self._tag))
        return is_readable or self.load.done or timeout == 0

    def dispatch(self, *_):
        self.set_ready_time(-1)
        self.load.step()
        item = self.load.pop()
        while item is not None:
            self._on_item(item)
            item = self.load.pop()
        self._watch()
        return GLib.SOURCE_REMOVE if self.load.done else GLib.SOURCE_CONTINUE

    def finalize(self):
        self.load.close()

    def destroy(self):
        self.load.close()
        super().destroy()

    def _watch(self) -> None:
        """Polls the connection that the load has now."""
        file = self.load.fileno()
        condition = _READ | GLib.IOCondition.OUT if self.load.wants_write else _READ
        if (file, condition) == (self._file, self._condition):
            return
        if self._tag is not None:
            self.remove_unix_fd(self._tag)
        self._tag = self.add_unix_fd(file, condition) if file >= 0 else None
        self._file, self._condition = file, condition
