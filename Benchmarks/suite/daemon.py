"""The daemon under test, with its default settings."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from pathlib import Path

from .generator import Target
from .session import Session, Unavailable, accepts_unix


class Daemon:
    """A running cached with its own socket, and its own directory unless one is given."""

    def __init__(
        self, session: Session, programs: Path, name: str, directory: Path | None = None,
        options: list[str] = [], environment: dict[str, str] = {}, launcher: list[str] = []
    ) -> None:
        self.session = session
        self.program = programs / "cached"
        self.cachectl = programs / "cachectl"
        if not self.program.exists() or not self.cachectl.exists():
            raise Unavailable("cached is not built")
        self.directory = directory or session.directory / name
        self.socket = session.directory / f"{name}.sock"
        # The caller's own settings are not the defaults under test.
        clean = {key: value for key, value in os.environ.items() if not key.startswith("CACHE")}
        clean["XDG_CONFIG_HOME"] = str(session.directory / "no-configuration")
        self.environment = {**clean, "CACHED_SOCKET": str(self.socket)}
        self.child = session.start(
            name,
            [*launcher, str(self.program), "--directory", str(self.directory), "--socket", str(self.socket),
             "--allow-network", "127.0.0.0/8", *options],
            lambda: accepts_unix(self.socket), env={**clean, **environment})

    def stop(self) -> None:
        self.session.stop(self.child)

    def fetch(self, urls: list[str]) -> None:
        """Downloads all `urls` with cachectl."""
        listing = self.socket.with_suffix(".urls")
        listing.write_text("".join(f"{url}\n" for url in urls))
        self.fetch_listed(listing)
        self.check_fetched(len(urls))

    def fetch_listed(self, listing: Path, *options: str) -> None:
        """Downloads the URLs in a file, one per line; the printed paths are checked separately."""
        with listing.open() as urls, self.fetched_paths.open("w") as paths:
            result = subprocess.run(
                [str(self.cachectl), "fetch", *options, "-"], stdin=urls, stdout=paths,
                stderr=subprocess.PIPE, text=True, env=self.environment)
        if result.returncode != 0:
            said = result.stderr.strip().splitlines()
            raise Unavailable(f"cachectl fetch: {said[-1] if said else result.returncode}")

    def check_fetched(self, count: int) -> None:
        """A path was printed for each URL."""
        paths = len(self.fetched_paths.read_text().splitlines())
        if paths != count:
            raise Unavailable(f"cachectl fetch printed {paths} paths for {count} URLs")

    @property
    def fetched_paths(self) -> Path:
        return self.socket.with_suffix(".paths")

    def status(self, urls: list[str]) -> list[dict]:
        return self.call("Status", {"urls": urls})["items"]

    def stats(self) -> dict:
        return self.call("Stats", {})["stats"]

    def wait_until_indexed(self, pause: float = 0.05) -> dict:
        """Waits until the first scan has finished; returns the statistics then."""
        deadline = time.monotonic() + 300
        while not (stats := self.stats())["isIndexed"]:
            if time.monotonic() > deadline:
                raise Unavailable("cached has not read its directory after five minutes")
            time.sleep(pause)
        return stats

    def call(self, method: str, parameters: dict) -> dict:
        """Makes one call, without any of the project's own client code."""
        with self.begin(method, parameters) as client:
            reply = bytearray()
            while not reply.endswith(b"\0"):
                received = client.recv(1 << 20)
                if not received:
                    raise Unavailable(f"cached closed the connection of a {method} call")
                reply += received
        answer = json.loads(reply[:-1])
        if "error" in answer:
            raise Unavailable(f"cached says {answer['error']}")
        return answer["parameters"]

    def begin(self, method: str, parameters: dict) -> socket.socket:
        """Sends a call and returns the connection on which its reply will arrive."""
        call = {"method": f"io.cached.Cache.{method}", "parameters": parameters}
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(120)
        client.connect(str(self.socket))
        client.sendall(json.dumps(call).encode() + b"\0")
        return client

    def target(self, lines: Path) -> Target:
        return Target(f"unix:{self.socket}", "varlink", lines)
