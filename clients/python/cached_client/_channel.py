"""A stream of the daemon that outlives its restarts: for loops that wait, and for main loops."""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from ._daemon import Attempt, Daemon
from ._item import CacheError

Value = TypeVar("Value")
Self = TypeVar("Self", bound="Channel[Any]")


class Channel(Generic[Value]):
    """Values that the daemon reports.

    Iterate over it, or let a main loop drive it: wait until `fileno()` is readable (and writable if
    `wants_write`) or `timeout()` is over, call `step()`, then `pop()` until it returns None. No call but
    the iteration waits. It ends with `close()`, with the `with` block, or with the object.

    One thread at a time may use it.
    """

    def __init__(self, daemon: Daemon, stream: Any):
        self._daemon = daemon
        #: Bytes in, values out: `call()`, `feed(data)`, `pop()`, `fail(error)`, `has_changes`, `state` and `follow`.
        self._stream = stream
        self._socket: socket.socket | None = None
        self._attempt: Attempt | None = None
        self._output = bytearray()
        #: The end of the wait for an answer, on the monotonic clock.
        self._deadline: float | None = None
        self._was_connected = False
        self._process = os.getpid()
        self.done = False

    # Different for each kind of stream

    def _prepare(self) -> None:
        """Does what needs no daemon."""

    def _needs_daemon(self) -> bool:
        return True

    def _is_complete(self) -> bool:
        """Whether nothing more is to come."""
        return False

    def _is_busy(self) -> bool:
        """Whether the next step has something to do at once."""
        return bool(self._stream.has_changes)

    def _lacks_daemon(self) -> None:
        """There is no daemon at the moment."""

    # For a main loop

    def fileno(self) -> int:
        """The descriptor of the connection; -1 while there is none. It changes after a restart."""
        return -1 if self._socket is None else self._socket.fileno()

    @property
    def wants_write(self) -> bool:
        """Whether to wait until the descriptor is writable, too."""
        return bool(self._output)

    def timeout(self) -> float | None:
        """Seconds until `step()` has something to do even if the descriptor is silent; None: never."""
        if self.done:
            return None
        if self._is_busy() or self._is_complete():
            return 0.0
        due = self._deadline
        if self._socket is None and self._needs_daemon():
            due = 0.0 if self._attempt is None else min(self._attempt.next, due or self._attempt.next)
        return None if due is None or due == float("inf") else max(0.0, due - time.monotonic())

    def step(self) -> None:
        """Does what can be done without waiting. It raises nothing: failures are values."""
        if self.done or not self._is_ours():
            return
        self._guarded(self._prepare)
        if self.done:
            return
        if self._is_complete():
            return self._end()
        if self._socket is None and self._needs_daemon():
            self._guarded(self._connect)
        if self._socket is not None:
            self._guarded(self._exchange)
        if self._deadline is not None and not self.done and time.monotonic() >= self._deadline:
            self._guarded(self._give_up)

    def pop(self) -> Value | None:
        """The next value that changed; None if there is none at the moment."""
        value: Value | None = self._stream.pop()
        return value

    def close(self) -> None:
        """Gives up what is not there yet. It can be called twice."""
        self._end()

    # Parts of a step

    def _connect(self) -> None:
        if self._attempt is None:
            self._attempt = Attempt(self._daemon, self._was_connected)
            self._deadline = self._deadline or self._attempt.deadline
        try:
            connection = self._attempt.step()
        except CacheError as error:
            if self._daemon.plain is None:
                return self._give_up(error)
            connection = self._daemon.plain.connect()
        if connection is None:
            if not self._attempt.is_starting:
                self._lacks_daemon()
            return
        self._socket, self._attempt, self._was_connected = connection, None, True
        if self._deadline is None:
            self._deadline = time.monotonic() + self._daemon.patience
        self._send(self._stream.call())

    def _send(self, message: bytes) -> None:
        self._output += message
        self._flush()

    def _flush(self) -> None:
        while self._output and self._socket is not None:
            try:
                with memoryview(self._output) as view:
                    count = self._socket.send(view[:1 << 18], getattr(socket, "MSG_NOSIGNAL", 0))
            except BlockingIOError:
                return
            del self._output[:count]

    def _exchange(self) -> None:
        self._flush()
        # Only a few pieces, so that a fast daemon cannot delay the main loop.
        for _ in range(8):
            if self._socket is None:
                return
            try:
                data = self._socket.recv(1 << 16)
            except BlockingIOError:
                return
            if data and self._stream.feed(data):
                self._deadline = None
                self._answered()
            if not data or self._stream.state == "lost":
                return self._disconnect()
            if self._stream.state == "done":
                return self._end()

    def _answered(self) -> None:
        """The daemon has replied."""

    def _guarded(self, action: Callable[[], None]) -> None:
        """Does a part of a step. A broken connection is tried again; any other failure ends the stream."""
        try:
            action()
        except OSError:
            self._disconnect()
        except CacheError as error:
            self._stream.fail(error)
            self._end()

    def _disconnect(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self._output.clear()
        self._attempt = Attempt(self._daemon, was_connected=True)
        if self._deadline is None:
            self._deadline = self._attempt.deadline

    def _give_up(self, error: CacheError | None = None) -> None:
        self._lacks_daemon()
        if error is None and self._socket is not None:
            error = CacheError("noDaemon", f"the daemon at {', '.join(self._daemon.sockets)} did not answer for "
                                           f"{self._daemon.patience:g} s; restart cached")
        attempt = self._attempt or Attempt(self._daemon, was_connected=True)
        self._stream.fail(error or attempt.failure())
        if not self._stream.follow:
            return self._end()
        if self._socket is not None:
            self._disconnect()
        self._attempt, self._deadline = attempt, None
        attempt.go_on()

    def _is_ours(self) -> bool:
        """Whether this is the process that began the stream. A child must not read what its parent waits for."""
        if self._process == os.getpid():
            return True
        if not self.done:
            self._stream.fail(CacheError("forked", "the load belongs to the parent process; begin another one"))
            self._end()
        return False

    def _end(self) -> None:
        self.done = True
        self._output.clear()
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._attempt is not None:
            self._attempt.close()
            self._attempt = None

    # Iteration

    def __iter__(self: Self) -> Self:
        return self

    def __next__(self) -> Value:
        while True:
            value = self.pop()
            if value is not None:
                return value
            if self.done:
                raise StopIteration
            self.step()
            if not self._stream.has_changes and not self.done:
                self._wait()

    def _wait(self) -> None:
        timeout, file = self.timeout(), self.fileno()
        if hasattr(select, "poll"):
            poller = select.poll()
            if file >= 0:
                poller.register(file, select.POLLIN | (select.POLLOUT if self._output else 0))
            poller.poll(None if timeout is None else timeout * 1000 + 1)
        elif file >= 0:
            select.select([file], [file] if self._output else [], [], timeout)
        else:
            time.sleep(timeout or 0)

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "done"):
            self._end()
