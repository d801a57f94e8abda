"""How short of memory the machine is."""

from __future__ import annotations

import copy
from typing import Any

from ._channel import Channel
from ._daemon import Daemon
from ._stream import LONGEST_CALL, Messages, decode, encode


class Pressure(Channel[str]):
    """The levels of memory pressure: `normal`, `warning` or `critical`, at the beginning and at each change.

    It goes on until `close()`, and drives itself like a `Load`. Without a daemon it reports nothing, and it
    starts none. One thread at a time may use it.
    """

    def __init__(self, daemon: Daemon):
        daemon = copy.copy(daemon)
        daemon.starts, daemon.plain, daemon.patience = False, None, float("inf")
        super().__init__(daemon, _Levels())


class _Levels:
    """The messages of a `Watch` stream: bytes in, levels out."""

    follow = True

    def __init__(self) -> None:
        self.state, self._level, self._seen = "open", "", ""
        self._messages = Messages()

    def call(self) -> bytes:
        self.state, self._messages = "open", Messages()
        return encode("Watch", {"pressure": True}, more=True)

    def feed(self, data: bytes) -> bool:
        replied = False
        for message in self._messages.take(data, LONGEST_CALL):
            reply = decode(message)
            level = reply["parameters"].get("pressure") if reply else None
            self._level = level if isinstance(level, str) else self._level
            if not (reply and reply["continues"]):
                self.state = "lost"
            replied = True
        return replied

    @property
    def has_changes(self) -> bool:
        return self._level != self._seen

    def pop(self) -> str | None:
        if not self.has_changes:
            return None
        self._seen = self._level
        return self._level

    def fail(self, _: Any) -> None:
        """The level of a machine without a daemon is not known."""
