"""A `Load`, or the levels of memory pressure, for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from ._channel import Channel, Value
from ._item import Item
from ._load import Load
from .interface import Priority


Self = TypeVar("Self", bound="AsyncChannel[Any]")


class AsyncChannel(Generic[Value]):
    """A stream of the daemon for asyncio: `async for value in channel`. It belongs to the loop that iterates.

    The downloads end with `close()`, with the `async with` block, with the object, or if the task that
    waits for the next item is cancelled.
    """

    def __init__(self, channel: Channel[Value]):
        self._channel = channel
        self._wake: Callable[[], None] | None = None

    def close(self) -> None:
        """`Load.close`. An iteration that waits ends."""
        self._end_wait()
        self._channel.close()

    def _end_wait(self) -> None:
        """Stops watching the descriptor before it can be closed."""
        if self._wake is not None:
            self._wake()

    async def aclose(self) -> None:
        self.close()

    def __aiter__(self: Self) -> Self:
        return self

    async def __anext__(self) -> Value:
        channel = self._channel
        while True:
            value = channel.pop()
            if value is not None:
                return value
            if channel.done:
                raise StopAsyncIteration
            channel.step()
            try:
                await self._ready()
            except asyncio.CancelledError:
                channel.close()
                raise

    async def _ready(self) -> None:
        timeout = self._channel.timeout()
        if self._channel.done or timeout == 0:
            # Other tasks run between two steps.
            return await asyncio.sleep(0)
        loop, file = asyncio.get_running_loop(), self._channel.fileno()
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
            if self._channel.wants_write:
                loop.add_writer(file, wake)
        self._wake = wake
        try:
            await ready
        finally:
            if ready.cancelled():
                ready = loop.create_future()
            wake()
            self._wake = None

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


class AsyncLoad(AsyncChannel[Item]):
    """A `Load` for asyncio: `async for item in load`."""

    _channel: Load

    def want(self, urls: Iterable[str] | Mapping[str, Priority], priority: Priority | None = None) -> None:
        """`Load.want`."""
        self._end_wait()
        self._channel.want(urls, priority)

    def add(self, urls: Iterable[str] | Mapping[str, Priority], priority: Priority | None = None) -> None:
        """`Load.add`."""
        self._end_wait()
        self._channel.add(urls, priority)

    def drop(self, urls: Iterable[str]) -> None:
        """`Load.drop`."""
        self._end_wait()
        self._channel.drop(urls)
