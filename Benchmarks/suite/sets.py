"""Sets of images that change while a list is scrolled: the processor time that this costs the daemon."""

from __future__ import annotations

import json
import socket
import threading
import time
from pathlib import Path

from .bench import Bench
from .contest import Contender, Measurement, Outcome, contest
from .daemon import Daemon
from .session import Unavailable

IMAGES = 1000
CHANGES = 300
# The cells on the screen, and those ahead of them that are fetched in the background.
VISIBLE, AHEAD = 60, 200
FRAMES = 600
# Images of the set that may have a connection, because each client can have one more than the origin's limit. They stay.
RUNNING = 8


class SilentOrigin:
    """Accepts connections and never answers, so that every download stays in flight."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.clients: list[socket.socket] = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        try:
            while True:
                self.clients.append(self.listener.accept()[0])
        except OSError:
            pass

    def url(self, number: int) -> str:
        return f"http://127.0.0.1:{self.port}/{number}.png"

    def close(self) -> None:
        self.listener.close()
        for client in self.clients:
            client.close()


class Stream:
    """A running Fetch with `more`; another thread receives its replies."""

    def __init__(self, daemon: Daemon) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(daemon.socket))
        self.replies = 0
        self.bytes = 0
        self.changed = threading.Condition()
        threading.Thread(target=self.receive, daemon=True).start()

    def receive(self) -> None:
        try:
            while received := self.socket.recv(1 << 20):
                with self.changed:
                    self.replies += received.count(b"\0")
                    self.bytes += len(received)
                    self.changed.notify()
        except OSError:
            # The connection was closed.
            pass

    def call(self, method: str, parameters: dict, **flags: bool) -> None:
        call = {"method": f"io.cached.Cache.{method}", "parameters": parameters, **flags}
        self.socket.sendall(json.dumps(call).encode() + b"\0")

    def wait(self, replies: int) -> None:
        with self.changed:
            if not self.changed.wait_for(lambda: self.replies >= replies, timeout=30):
                raise Unavailable(f"{self.replies} of {replies} replies after 30 s")

    def close(self) -> None:
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def block(stream: Stream, origin: SilentOrigin) -> None:
    """Another client takes all connections to the origin: what is measured is the set, not the transfers."""
    urls = [f"{origin.url(number)}?blocks" for number in range(6)]
    stream.call("Fetch", {"urls": urls, "priority": "visible"}, more=True)
    stream.wait(1)
    time.sleep(0.5)


def processor_time(daemon: Daemon) -> float:
    """Seconds of all threads. /proc/PID/task/TID/schedstat has nanoseconds."""
    tasks = Path(f"/proc/{daemon.child.pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def measure_change(bench: Bench) -> dict[str, Outcome]:
    """One of a thousand images in flight is replaced by another, by Adjust and by a new Fetch."""

    def contender(name: str, is_adjusted: bool) -> Contender:
        def prepare() -> Measurement:
            return lambda: change(bench, is_adjusted) * 1e6
        return Contender(name, prepare)

    return contest([contender("cached", True), contender("a new Fetch", False)], bench.scale.rounds)


def change(bench: Bench, is_adjusted: bool) -> float:
    origin, daemon = SilentOrigin(), Daemon(bench.session, bench.programs, "cached-sets")
    blocker, stream = Stream(daemon), Stream(daemon)
    block(blocker, origin)
    urls = [origin.url(number) for number in range(IMAGES)]
    stream.call("Fetch", {"urls": urls}, more=True)
    stream.wait(1)
    time.sleep(0.5)
    start = processor_time(daemon)
    for number in range(CHANGES):
        added = origin.url(IMAGES + number)
        replies = stream.replies
        if is_adjusted:
            stream.call("Adjust", {"add": [{"url": added}], "drop": [urls[RUNNING]]}, oneway=True)
        urls = urls[:RUNNING] + urls[RUNNING + 1:] + [added]
        if not is_adjusted:
            stream.call("Fetch", {"urls": urls}, more=True)
        stream.wait(replies + 1)
    used = processor_time(daemon) - start
    stream.close()
    blocker.close()
    daemon.stop()
    origin.close()
    return used / CHANGES


def measure_scroll(bench: Bench) -> dict[str, Outcome]:
    """A list is scrolled by a cell in each frame, 60 times a second: rows appear ahead, become visible, and go."""

    def prepare() -> Measurement:
        return lambda: scroll(bench) * 100

    return contest([Contender("cached", prepare)], bench.scale.rounds)


def scroll(bench: Bench) -> float:
    origin, daemon = SilentOrigin(), Daemon(bench.session, bench.programs, "cached-sets")
    blocker, stream = Stream(daemon), Stream(daemon)
    block(blocker, origin)
    wants = [{"url": f"{origin.url(number)}?stays", "priority": "visible"} for number in range(RUNNING)]
    wants += [{"url": origin.url(number), "priority": "visible" if number < VISIBLE else "background"}
              for number in range(VISIBLE + AHEAD)]
    stream.call("Fetch", {"wants": wants, "follow": True}, more=True)
    stream.wait(1)
    time.sleep(0.5)
    before, start = processor_time(daemon), time.monotonic()
    for frame in range(FRAMES):
        add = [{"url": origin.url(frame + VISIBLE), "priority": "visible"},
               {"url": origin.url(frame + VISIBLE + AHEAD), "priority": "background"}]
        stream.call("Adjust", {"add": add, "drop": [origin.url(frame)]}, oneway=True)
        time.sleep(max(0, start + (frame + 1) / 60 - time.monotonic()))
    share = (processor_time(daemon) - before) / (time.monotonic() - start)
    stream.close()
    blocker.close()
    daemon.stop()
    origin.close()
    return share
