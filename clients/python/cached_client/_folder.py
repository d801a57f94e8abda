"""The cache directory, read without the daemon: docs/lookup/disk-format.md, "Reading without the daemon"."""

from __future__ import annotations

import os
import re
import stat
import struct
import time
import zlib
from typing import NamedTuple

from ._item import CacheError, Item
from ._places import check, name
from ._types import NAMES

_DIGITS = re.compile(rb"[0-9]{1,18}")
#: The fields of a record up to the end of freshness: docs/lookup/disk-format.md, "The record".
_RECORD = struct.Struct("<2xHIQII4xI")
#: struct flock, fcntl_locking(2): type, whence, start, length, process.
_FLOCK = struct.Struct("@hhqqi0q")
#: Other systems have neither the daemon nor such attributes.
_HAS_ATTRIBUTES = hasattr(os, "getxattr")


class Found(NamedTuple):
    """The state of an image in the directory."""

    item: Item
    #: If the image is cached: whether it can be used without asking its origin.
    is_fresh: bool = False
    #: If a cached image is not fresh: whether it must not be used before its origin confirms it.
    is_strict: bool = False


class Folder:
    """A cache directory. It keeps nothing open, so it may be used after a fork and by several threads."""

    def __init__(self, path: str):
        self.path = os.path.abspath(path)
        self._prefix = self.path.rstrip("/") + "/"

    def find(self, url: str) -> Found:
        """The state of an image. CacheError `storage`, `notPermitted` or `invalidURL` if there is none."""
        check(url)
        key = name(url)
        owner = self._owner() if _HAS_ATTRIBUTES else None
        if owner is None:
            return Found(Item(url, "missing"))
        path = self._prefix + key
        found = self._cached(url, key, path, owner)
        if found is None:
            partial = self._partial(url, path)
            # If it has no partial download either, it can have been published in between.
            found = Found(partial) if partial else self._cached(url, key, path, owner)
        return found or Found(Item(url, "missing"))

    def _owner(self) -> int | None:
        """The owner of the directory; None if there is no directory."""
        try:
            status = os.lstat(self.path)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CacheError("storage", f"cannot look at the cache directory {self.path[:200]}: {reason}") from None
        if stat.S_ISLNK(status.st_mode):
            raise CacheError("storage", f"{self.path} is a symbolic link; name the directory it leads to")
        if not stat.S_ISDIR(status.st_mode):
            raise CacheError("storage", f"{self.path} is not a directory; name the cache directory")
        if status.st_uid != os.geteuid() and not _is_of_the_system(status.st_uid):
            raise CacheError(
                "notPermitted", f"{self.path} belongs to user {status.st_uid}; name a directory of your own")
        return status.st_uid

    def _cached(self, url: str, key: str, path: str, owner: int) -> Found | None:
        try:
            status = os.lstat(path)
            if not stat.S_ISREG(status.st_mode) or not status.st_size or status.st_uid != owner \
                    or not status.st_mode & stat.S_IRUSR:
                return None
            record = os.getxattr(path, "user.cached." + key[:8], follow_symlinks=False)
        except FileNotFoundError:
            return None
        except PermissionError:
            raise CacheError(
                "notPermitted", f"may not look into {self.path}; use load, which asks the daemon") from None
        except OSError:
            return None
        return _read_record(record, url, path, status.st_size)

    def _partial(self, url: str, path: str) -> Item | None:
        try:
            file = os.open(path + ".part", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                return None
            return Item(url, "inFlight" if _is_locked(file) else "missing", status.st_size, _total(file))
        finally:
            os.close(file)


def _is_of_the_system(user: int) -> bool:
    """Whether a user is not a person: root, a system account, or a dynamic user of systemd."""
    return user < 1000 or 61184 <= user <= 65519


def _is_locked(file: int) -> bool:
    """Whether a daemon fills the file. fcntl(2), F_OFD_GETLK."""
    import fcntl
    try:
        lock = fcntl.fcntl(file, fcntl.F_OFD_GETLK, _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
    except OSError:
        return False
    return bool(_FLOCK.unpack_from(lock)[0] != fcntl.F_UNLCK)


def _total(file: int) -> int | None:
    try:
        value = os.getxattr(file, "user.cached.total")
    except OSError:
        return None
    return int(value) if _DIGITS.fullmatch(value) else None


def _read_record(record: bytes, url: str, path: str, size: int) -> Found | None:
    """What the record of a file says; None if it is not that of the file."""
    if record[:2] != b"v3" or len(record) < 56 \
            or zlib.crc32(record[:-4]) != int.from_bytes(record[-4:], "little"):
        return None
    kind, flags, recorded, width, height, fresh_until = _RECORD.unpack_from(record)
    if recorded != size:
        return None
    item = Item(url, "cached", path=path, size=size, media_type=NAMES[kind] if kind < len(NAMES) else None,
                width=width or None, height=height or None)
    return Found(item, bool(flags & 8) and time.time() < fresh_until, bool(flags & 4))
