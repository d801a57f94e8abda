"""The image cache of this machine, for applications.

`Cache.peek` returns the state of an image from the cache directory alone. `Cache.load` downloads images
and reports their progress; if no daemon runs, it starts one. There are no threads; `Cache.aload` is for asyncio,
and `cached_client.glib` for the main loop of GTK. `FakeCache` is for tests of applications.
"""

from typing import TYPE_CHECKING

from ._cache import Cache
from ._item import CacheError, Item
from ._load import Load
from ._places import name, variant
from ._pressure import Pressure

if TYPE_CHECKING:
    from ._aload import AsyncChannel, AsyncLoad
    from ._fake import FakeCache
    from .interface import Priority

__all__ = ["AsyncChannel", "AsyncLoad", "Cache", "CacheError", "FakeCache", "Item", "Load", "Pressure", "Priority",
           "name", "variant"]

#: They are imported when they are used, so that importing the package takes little time.
_LATER = {"AsyncChannel": "_aload", "AsyncLoad": "_aload", "FakeCache": "_fake", "Priority": "interface"}


def __getattr__(attribute: str) -> object:
    if attribute not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {attribute!r}")
    from importlib import import_module
    return getattr(import_module("." + _LATER[attribute], __name__), attribute)
