"""Decoded pictures in memory: made by threads, bounded by their cost, given up if memory is short."""

import os
import weakref
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Callable, Container, Optional, Tuple, Union

import gi

gi.require_version("Gdk", "4.0")
gi.require_version("GdkPixbuf", "2.0")
from gi.repository import Gdk, GdkPixbuf, GLib  # noqa: E402

import libcached  # noqa: E402

# A file's path, and its inode, since a newer version of an image is another file at the same path.
Key = Tuple[str, int]

Done = Callable[[Union[Gdk.Texture, str]], None]


class Textures:
    """Textures of files, at least `side` pixels wide and high. Used by the main thread alone."""

    # A picture of a few kilobytes can claim to be gigantic. Strangers made it, so there is a limit.
    largest = 100_000_000

    def __init__(self, side: int, limit: int = 64 << 20) -> None:
        self._side = side
        self._limit = limit
        self._cost = 0
        self._kept: "OrderedDict[Key, Gdk.Texture]" = OrderedDict()  # the least recently used first
        # Those that a cell still shows too: they are in memory anyway.
        self._alive: "weakref.WeakValueDictionary[Key, Gdk.Texture]" = weakref.WeakValueDictionary()
        self._running: dict[str, Future] = {}
        self._workers = ThreadPoolExecutor(max_workers=2, thread_name_prefix="decoder")

    def get(self, path: str) -> Optional[Gdk.Texture]:
        """The texture of a file if it is in memory."""
        try:
            key = _key(path)
        except OSError:
            return None  # evicted just now
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._alive.get(key)

    def load(self, path: str, done: Done) -> None:
        """Decodes a file, and calls `done` on the main thread with the texture or the reason why not."""
        if path in self._running:
            return
        self._running[path] = work = self._workers.submit(self._decode, path)
        # Before the next frame: an idle of low priority waits for as long as something is animated.
        work.add_done_callback(
            lambda work: GLib.idle_add(self._finish, path, work, done, priority=GLib.PRIORITY_DEFAULT)
        )

    def cancel_all_but(self, paths: Container[str]) -> None:
        """Forgets the files that no thread has begun to decode, except these."""
        for path, work in list(self._running.items()):
            if path not in paths and work.cancel():
                del self._running[path]

    def relieve(self, pressure: int) -> None:
        """Gives memory back to the machine: half of it, or all if that is critical."""
        if pressure != libcached.PRESSURE_NORMAL:
            self._shrink(0 if pressure == libcached.PRESSURE_CRITICAL else self._cost // 2)

    def _decode(self, path: str) -> Tuple[Key, Gdk.Texture]:
        key = _key(path)
        format, width, height = GdkPixbuf.Pixbuf.get_file_info(path)
        if format is None or width * height > self.largest:
            raise ValueError("this is no picture that can be shown")
        scale = min(1.0, self._side / min(width, height))
        pixbuf = GdkPixbuf.Pixbuf.new_from_file_at_scale(
            path, max(1, round(width * scale)), max(1, round(height * scale)), False
        )
        # Phones store photographs lying on their side, with a note.
        return key, Gdk.Texture.new_for_pixbuf(pixbuf.apply_embedded_orientation())

    def _finish(self, path: str, work: Future, done: Done) -> bool:
        if work.cancelled():
            return GLib.SOURCE_REMOVE
        del self._running[path]
        try:
            key, texture = work.result()
        except (GLib.Error, OSError, ValueError) as error:
            done(getattr(error, "message", None) or str(error))
        else:
            if key not in self._kept:
                self._kept[key] = self._alive[key] = texture
                self._cost += _cost(texture)
                self._shrink(self._limit)
            done(texture)
        return GLib.SOURCE_REMOVE

    def _shrink(self, limit: int) -> None:
        while self._cost > limit:
            self._cost -= _cost(self._kept.popitem(last=False)[1])


def _key(path: str) -> Key:
    return path, os.stat(path).st_ino


def _cost(texture: Gdk.Texture) -> int:
    return 4 * texture.get_width() * texture.get_height()
