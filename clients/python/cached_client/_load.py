"""Images on their way: one stream to the daemon that outlives its restarts."""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Callable, Iterable, Mapping

from ._folder import Folder
from ._item import CacheError, Item
from ._stream import Stream, encode
from .interface import Priority

#: Images that one step looks up in the directory, so that it takes a few milliseconds at most.
_LOOKS = 200
#: Seconds between two attempts to connect, at first and at last.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0
_PRIORITIES = ("background", "normal", "visible")


class Load:
    """The changing states of some images, until each is cached or has failed.

    Iterate over it, or let a main loop drive it: wait until `fileno()` is readable (and writable if
    `wants_write`) or `timeout()` is over, call `step()`, then `pop()` until it returns None. No call but
    the iteration waits. The downloads end with `close()`, with the `with` block, or with the object,
    unless another program wants them too.
    """

    def __init__(self, folder: Folder, sockets: list[str], patience: float,
                 urls: Iterable[str] | Mapping[str, Priority], priority: Priority, follow: bool,
                 headers: Mapping[str, str] | None):
        self._folder, self._sockets, self._patience = folder, sockets, patience
        self._stream = Stream(follow, headers=headers)
        self._priority = priority
        #: Wanted images that were not looked up in the directory yet, with their priorities.
        self._unseen: dict[str, Priority] = {}
        #: Stale images that are used if no daemon answers.
        self._stale: dict[str, Item] = {}
        self._socket: socket.socket | None = None
        self._output = bytearray()
        #: The end of the wait for an answer, and the time of the next attempt to connect; on the monotonic clock.
        self._deadline: float | None = None
        self._next_attempt = 0.0
        self._pause = _FIRST_PAUSE
        #: The reason why there is no connection.
        self._problem = ""
        self._process = os.getpid()
        self.done = False
        self._unseen.update(self._with_priorities(urls, priority))

    # The set of images

    def show(self, urls: Iterable[str] | Mapping[str, Priority], priority: Priority | None = None) -> None:
        """Wants these images and no others; only of a load with `follow`.

        Downloads of images that are in both sets go on. `urls` can be a dictionary with a priority each.
        """
        if not self._stream.follow:
            raise ValueError("only a load with follow=True can change its images")
        if self.done:
            return
        new = self._with_priorities(urls, priority or self._priority)
        dropped = [url for url in (*self._stream.wants, *self._unseen) if url not in new]
        gone = [url for url in dropped if url in self._stream.wants]
        for url in dropped:
            self._unseen.pop(url, None)
            self._stale.pop(url, None)
            self._stream.drop(url)
        self._unseen.update((url, new[url]) for url in new if self._stream.wants.get(url) != new[url])
        if gone and self._socket is not None and self._is_ours():
            self._guarded(lambda: self._send(encode("Adjust", {"drop": gone}, oneway=True)))

    @staticmethod
    def _with_priorities(urls: Iterable[str] | Mapping[str, Priority], priority: Priority) -> dict[str, Priority]:
        if isinstance(urls, str):
            raise TypeError("urls is one text; give a list of URLs")
        pairs = dict(urls) if isinstance(urls, Mapping) else dict.fromkeys(urls, priority)
        for value in pairs.values():
            if value not in _PRIORITIES:
                raise ValueError(f"{value!r} is no priority; use one of {', '.join(_PRIORITIES)}")
        return pairs

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
        if self._unseen or self._stream.has_changes:
            return 0.0
        due = self._deadline
        if self._socket is None:
            due = min(self._next_attempt, self._deadline or self._next_attempt) if self._stream.asked else None
        return None if due is None else max(0.0, due - time.monotonic())

    def step(self) -> None:
        """Does what can be done without waiting. It raises nothing: failures are items."""
        if self.done or not self._is_ours():
            return
        self._guarded(self._look)
        if self.done or self._unseen and self._socket is None:
            return
        if not self._stream.follow and not self._stream.undecided and not self._unseen:
            return self._end()
        if self._socket is None and self._stream.asked:
            self._connect()
        if self._socket is not None:
            self._guarded(self._exchange)
        if self._deadline is not None and time.monotonic() >= self._deadline:
            self._give_up()

    def pop(self) -> Item | None:
        """The next item that changed; None if there is none at the moment."""
        return self._stream.pop()

    def close(self) -> None:
        """Gives up what is not there yet. It can be called twice."""
        self._end()

    # Parts of a step

    def _look(self) -> None:
        added = []
        for url in list(self._unseen)[:_LOOKS]:
            priority = self._unseen.pop(url)
            is_new = url not in self._stream.wants
            if not is_new or self._is_asked(url):
                self._stream.want(url, priority)
                added.append((url, priority))
        if added and self._socket is not None:
            self._send(encode("Adjust", {"add": self._stream.calls_for(added)}, oneway=True))

    def _is_asked(self, url: str) -> bool:
        """Whether the daemon has to be asked about an image; otherwise its state was reported."""
        try:
            item, is_fresh, is_strict = self._folder.find(url)
        except CacheError as error:
            if error.kind == "invalidURL":
                self._stream.report(Item(url, "failed", failure=error))
            return error.kind != "invalidURL"
        if item.state == "cached" and (is_fresh or self._stream.follow):
            self._stream.report(item)
            return self._stream.follow
        if item.state == "cached" and not is_strict:
            self._stale[url] = item
        return True

    def _connect(self) -> None:
        now = time.monotonic()
        if now < self._next_attempt:
            return
        if self._deadline is None:
            self._deadline = now + self._patience
        problems = []
        for path in self._sockets:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
            try:
                connection.connect(path)
            except (OSError, ValueError) as error:
                connection.close()
                problems.append(f"{path}: {getattr(error, 'strerror', None) or error}")
                if isinstance(error, BlockingIOError):
                    # A daemon runs, but too many clients wait for it.
                    break
                continue
            self._socket, self._pause = connection, _FIRST_PAUSE
            self._guarded(lambda: self._send(self._stream.call()))
            return
        self._problem = "; ".join(problems)
        self._next_attempt = now + self._pause
        self._pause = min(_LONGEST_PAUSE, self._pause * 1.5)
        self._use_stale()

    def _use_stale(self) -> None:
        for url, item in self._stale.items():
            self._stream.report(item)
            if not self._stream.follow:
                self._stream.undecided.pop(url, None)
        self._stale.clear()

    def _send(self, message: bytes) -> None:
        self._output += message
        self._flush()

    def _flush(self) -> None:
        while self._output and self._socket is not None:
            try:
                with memoryview(self._output) as view:
                    count = self._socket.send(view[:1 << 18], socket.MSG_NOSIGNAL)
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
                self._stale.clear()
            if not data or self._stream.state == "lost":
                self._problem = "the daemon closed the connection"
                return self._disconnect()
            if self._stream.state == "done":
                return self._end()

    def _guarded(self, action: Callable[[], None]) -> None:
        """Does a part of a step. A broken connection is tried again; any other failure ends the load."""
        try:
            action()
        except OSError as error:
            self._problem = error.strerror or str(error)
            self._disconnect()
        except CacheError as error:
            self._stream.fail(error)
            self._end()

    def _disconnect(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self._output.clear()
        now = time.monotonic()
        self._next_attempt = now + self._pause
        if self._deadline is None:
            self._deadline = now + self._patience

    def _give_up(self) -> None:
        self._use_stale()
        silent = self._socket is not None
        why = f"{', '.join(self._sockets)} accepts connections and does not answer" if silent else self._problem
        self._stream.fail(CacheError(
            "noDaemon", f"no daemon answered for {self._patience:g} s ({why}); start cached"))
        if not self._stream.follow:
            return self._end()
        self._disconnect()
        self._deadline, self._pause = None, _LONGEST_PAUSE
        self._next_attempt = time.monotonic() + self._pause

    def _is_ours(self) -> bool:
        """Whether this is the process that began the load. A child must not read its parent's stream."""
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

    # Iteration

    def __iter__(self) -> Load:
        return self

    def __next__(self) -> Item:
        while True:
            item = self.pop()
            if item is not None:
                return item
            if self.done:
                raise StopIteration
            self.step()
            if not self._stream.has_changes and not self.done:
                self._wait()

    def _wait(self) -> None:
        poller, timeout = select.poll(), self.timeout()
        if self._socket is not None:
            poller.register(self._socket, select.POLLIN | (select.POLLOUT if self._output else 0))
        poller.poll(None if timeout is None else timeout * 1000 + 1)

    def __enter__(self) -> Load:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_output"):
            self._end()
