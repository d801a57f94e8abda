"""A `Load` for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping

from ._item import Item
from ._load import Load
from .interface import Priority


class AsyncLoad:
    """A `Load` for asyncio: `async for item in load`.

    The downloads end with `close()`, with the `async with` block, with the object, or if the task that
    waits for the next item is cancelled.
    """

    def __init__(self, load: Load):
        self._load = load
        self._wake: Callable[[], None] | None = None

    def show(self, urls: Iterable[str] | Mapping[str, Priority], priority: Priority | None = None) -> None:
        """`Load.show`."""
        self._end_wait()
        self._load.show(urls, priority)

    def close(self) -> None:
        """`Load.close`. An iteration that waits ends."""
        self._end_wait()
        self._load.close()

    def _end_wait(self) -> None:
        """Stops watching the descriptor before it can be closed."""
        if self._wake is not None:
            self._wake()

    async def aclose(self) -> None:
        self.close()

    def __aiter__(self) -> AsyncLoad:
        return self

    async def __anext__(self) -> Item:
        load = self._load
        while True:
            item = load.pop()
            if item is not None:
                return item
            if load.done:
                raise StopAsyncIteration
            load.step()
            try:
                await self._ready()
            except asyncio.CancelledError:
                load.close()
                raise

    async def _ready(self) -> None:
        timeout = self._load.timeout()
        if self._load.done or timeout == 0:
            # Other tasks run between two steps.
            return await asyncio.sleep(0)
        loop, file = asyncio.get_running_loop(), self._load.fileno()
        ready = loop.create_future()
        timer = None

        def wake() -> None:
            if ready.done():
                return
            ready.set_result(None)
            if timer is not None:
                timer.cancel()
            if file >= 0:
                loop.remove_reader(file)
                loop.remove_writer(file)

        if timeout is not None:
            timer = loop.call_later(timeout, wake)
        if file >= 0:
            loop.add_reader(file, wake)
            if self._load.wants_write:
                loop.add_writer(file, wake)
        self._wake = wake
        try:
            await ready
        finally:
            if ready.cancelled():
                ready = loop.create_future()
            wake()
            self._wake = None

    async def __aenter__(self) -> AsyncLoad:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()
