"""One machine of the fleet: a daemon, and a program that fetches one image after the other."""

from __future__ import annotations

import json
import socket
import threading
import time

from ..daemon import Daemon
from ..session import Unavailable


class Machine:
    def __init__(self, daemon: Daemon, urls: list[str]) -> None:
        self.daemon = daemon
        self.urls = urls
        self.failures = 0
        self.client = socket.socket(socket.AF_UNIX)
        self.client.settimeout(120)
        self.client.connect(str(daemon.socket))

    def begin(self, wants: list[tuple[float, int]], start: float) -> threading.Thread:
        """Fetches each image when its time has come."""
        thread = threading.Thread(target=self._work, args=(wants, start))
        thread.start()
        return thread

    def _work(self, wants: list[tuple[float, int]], start: float) -> None:
        for due, image in wants:
            time.sleep(max(0.0, start + due - time.monotonic()))
            self.fetch([image])

    def fetch(self, images: list[int], **options: str) -> list[float]:
        """Fetches images together. Returns the seconds after which each was cached."""
        parameters = {"urls": [self.urls[image] for image in images], **options}
        call = {"method": "io.cached.Cache.Fetch", "parameters": parameters, "more": True}
        start = time.monotonic()
        self.client.sendall(json.dumps(call).encode() + b"\0")
        times: dict[str, float] = {}
        unread, continues = b"", True
        while continues:
            received = self.client.recv(1 << 20)
            if not received:
                raise Unavailable("cached closed the connection of a Fetch call")
            *messages, unread = (unread + received).split(b"\0")
            for message in messages:
                reply = json.loads(message)
                continues = reply.get("continues", False)
                for item in reply["parameters"]["items"]:
                    if item["state"] == "cached":
                        times.setdefault(item["url"], time.monotonic() - start)
        self.failures += len(images) - len(times)
        return list(times.values())
