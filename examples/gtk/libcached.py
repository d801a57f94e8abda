"""The C library in Python, through ctypes. `cached.h` explains each function."""

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p
from dataclasses import dataclass
from typing import Iterator, Mapping, Optional

MISSING, IN_FLIGHT, HERE, FAILED = range(4)
BACKGROUND, NORMAL, VISIBLE = range(3)
PRESSURE_NORMAL, PRESSURE_WARNING, PRESSURE_CRITICAL = range(3)


@dataclass(frozen=True)
class Image:
    """What is known of an image, copied because the library's texts live only until the next call."""

    url: str
    state: int = MISSING
    received: int = 0
    total: int = -1
    path: Optional[str] = None
    message: Optional[str] = None

    @property
    def fraction(self) -> Optional[float]:
        """The part that has arrived; None if the total is unknown."""
        return min(self.received / self.total, 1.0) if self.total > 0 else None


class _Image(ctypes.Structure):
    """`cached_image`"""

    _fields_ = [
        ("length", c_size_t),
        ("state", c_int32), ("width", c_int32), ("height", c_int32), ("http_status", c_int32),
        ("received", c_int64), ("total", c_int64), ("retry_at", c_int64),
        ("url", c_char_p), ("path", c_char_p), ("media_type", c_char_p),
        ("kind", c_char_p), ("message", c_char_p),
    ]  # fmt: skip

    def __init__(self) -> None:
        super().__init__(length=ctypes.sizeof(_Image))

    def copy(self) -> Image:
        def text(value: Optional[bytes]) -> Optional[str]:
            return value.decode(errors="replace") if value is not None else None

        return Image(
            text(self.url) or "", self.state, self.received, self.total,
            text(self.path), text(self.message),
        )  # fmt: skip


def _library() -> ctypes.CDLL:
    library = ctypes.CDLL("libcached.so.0")
    library.cached_open.restype = c_void_p
    library.cached_open.argtypes = [c_char_p, c_char_p]
    library.cached_peek.argtypes = [c_void_p, c_char_p, POINTER(_Image)]
    library.cached_want.argtypes = [c_void_p, POINTER(c_char_p), POINTER(c_int32), c_size_t]
    library.cached_next.argtypes = [c_void_p, POINTER(_Image)]
    for function in (library.cached_fd, library.cached_pressure):
        function.restype, function.argtypes = c_int, [c_void_p]
    return library


class Cache:
    """The image cache of this machine, found as every program finds it. One thread uses it at a time."""

    def __init__(self) -> None:
        self._library = _library()
        self._cache = self._library.cached_open(None, None)
        if not self._cache:
            raise OSError("libcached cannot open the cache: too few descriptors or too little memory")

    @property
    def fd(self) -> int:
        """The descriptor that becomes readable if there may be news."""
        return self._library.cached_fd(self._cache)

    def peek(self, url: str) -> Image:
        """What the directory says: some microseconds, and no daemon."""
        found = _Image()
        self._check(self._library.cached_peek(self._cache, url.encode(), ctypes.byref(found)))
        return found.copy()

    def want(self, priorities: Mapping[str, int]) -> None:
        """Wants these images from now on, and no others."""
        count = len(priorities)
        urls = (c_char_p * count)(*(url.encode() for url in priorities))
        numbers = (c_int32 * count)(*priorities.values())
        self._check(self._library.cached_want(self._cache, urls, numbers, count))

    def news(self) -> Iterator[Image]:
        """Everything that has changed since the last call."""
        found = _Image()
        while self._check(self._library.cached_next(self._cache, ctypes.byref(found))) == 1:
            yield found.copy()

    @property
    def pressure(self) -> int:
        """How short of memory the machine is."""
        return self._library.cached_pressure(self._cache)

    @staticmethod
    def _check(result: int) -> int:
        if result < 0:
            raise OSError(-result, "the call of libcached failed")
        return result
