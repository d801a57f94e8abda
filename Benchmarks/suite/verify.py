"""The speed of a verification, compared with `sha256sum` on all cores.

Both read the same images. They are in the kernel's memory after the download, so the rounds compare work and not
disks.
"""

from __future__ import annotations

import os
import subprocess
import time

from .bench import Bench
from .contest import Contender, Outcome, contest
from .session import Unavailable, require


def measure(bench: Bench) -> dict[str, Outcome]:
    """Gigabytes a second."""
    contenders = [
        Contender("cached", lambda: lambda: verify(bench)),
        Contender("sha256sum", lambda: lambda: sha256sum(bench)),
    ]
    return contest(contenders, bench.scale.download_rounds)


def verify(bench: Bench) -> float:
    daemon = bench.complete_daemon
    start = time.monotonic()
    reply = daemon.call("Verify", {})
    seconds = time.monotonic() - start
    if reply["checked"] != len(bench.urls) or reply["damaged"]:
        raise Unavailable(f"{reply['checked']} of {len(bench.urls)} images were verified")
    return bench.origin.bytes / seconds / 1e9


def sha256sum(bench: Bench) -> float:
    require("sha256sum")
    directory = bench.complete_daemon.directory
    names = "\0".join(name for name in os.listdir(directory) if len(name) == 36)
    start = time.monotonic()
    subprocess.run(
        ["xargs", "-0", "-n", "64", "-P", str(os.cpu_count()), "sha256sum"], cwd=directory,
        input=names.encode(), stdout=subprocess.DEVNULL, check=True)
    return bench.origin.bytes / (time.monotonic() - start) / 1e9
