"""The first image of a program on a machine where no daemon runs, so that its library starts one."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import struct
import subprocess
from pathlib import Path
from typing import Callable

from .bench import Bench
from .contest import Contender, Measurement, Outcome, contest
from .peek import compiled
from .session import Unavailable


def measure(figure: int) -> Callable[[Bench], dict[str, Outcome]]:
    """Milliseconds until the image is there (0), or of the longest call of the library (1)."""

    def measure(bench: Bench) -> dict[str, Outcome]:
        return contest([
            Contender("cached", lambda: looking(bench, figure, starts=True)),
            Contender("a daemon that runs", lambda: looking(bench, figure, starts=False)),
        ], bench.scale.processes // 4)

    return measure


def looking(bench: Bench, figure: int, starts: bool) -> Measurement:
    program = compiled(bench, "first")
    place = bench.session.directory / "first"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("CACHE")}
    environment |= {
        "PATH": f"{bench.programs}:{os.environ['PATH']}", "XDG_CONFIG_HOME": str(place / "none"),
        "CACHED_DIRECTORY": str(place / "cache"), "CACHED_SOCKET": str(place / "socket"),
        "CACHED_ALLOW_NETWORK": "127.0.0.0/8"}

    def measure() -> float:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        if not starts:
            subprocess.run([bench.programs / "cached", "--detach"], env=environment, check=True)
        result = subprocess.run([program, bench.urls[0]], env=environment, capture_output=True, text=True)
        end_daemon(place / "socket")
        if result.returncode != 0:
            raise Unavailable(result.stderr.strip() or f"status {result.returncode}")
        return float(result.stdout.split()[figure])

    return measure


def end_daemon(path: Path) -> None:
    """The daemon belongs to nobody, so its socket tells its process (unix(7), SO_PEERCRED)."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(10)
        if client.connect_ex(str(path)) != 0:
            return
        process, _, _ = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        os.kill(process, signal.SIGTERM)
        client.recv(1)
