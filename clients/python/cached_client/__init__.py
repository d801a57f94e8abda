"""The image cache of this machine, for applications.

`Cache.peek` returns the state of an image from the cache directory alone. `Cache.load` downloads images
and reports their progress. There are no threads; `Cache.aload` is for asyncio, and
`cached_client.glib` for the main loop of GTK.
"""

from ._aload import AsyncLoad
from ._cache import Cache
from ._item import CacheError, Item
from ._load import Load
from ._places import name
from .interface import Priority

__all__ = ["AsyncLoad", "Cache", "CacheError", "Item", "Load", "Priority", "name"]
