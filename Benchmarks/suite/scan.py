"""The cost of scanning a directory at the start, and the effect on other clients.

All rounds scan one directory of synthetic entries. Their names and attributes are in the kernel's memory
after the first scan, so the rounds compare work and not disks.
"""

from __future__ import annotations

import functools
import os
import time
from pathlib import Path

from .bench import Bench
from .contest import Contender, Outcome, contest
from .daemon import Daemon
from .eviction import ROOMY, entries, fill
from .session import Unavailable


def measure_cost(bench: Bench) -> dict[str, Outcome]:
    """Microseconds per entry from the start of the process until the scan has finished, compared with a
    loop of readdir, fstatat and one lgetxattr."""
    contenders = [
        Contender("cached", lambda: lambda: read(bench)),
        Contender("readdir", lambda: lambda: walk(bench)),
    ]
    return contest(contenders, bench.scale.download_rounds)


def measure_cost_on_one_core(bench: Bench) -> dict[str, Outcome]:
    """The same with one processor for all processes."""
    cores = os.sched_getaffinity(0)
    # Processes started from here on inherit this.
    os.sched_setaffinity(0, {min(cores)})
    try:
        return measure_cost(bench)
    finally:
        os.sched_setaffinity(0, cores)


def measure_status(bench: Bench) -> dict[str, Outcome]:
    """The 99th percentile of latency in milliseconds while a directory is scanned."""
    contenders = [Contender("cached", lambda: lambda: ask(bench))]
    return contest(contenders, bench.scale.download_rounds)


@functools.cache
def directory(bench: Bench) -> Path:
    made = fill(bench, False, bench.scale.victims)
    # The first read comes from the disk.
    entries(bench, "walk", made)
    return made


def started(bench: Bench) -> Daemon:
    path = directory(bench)
    return Daemon(bench.session, bench.programs, path.name, path, ROOMY)


def read(bench: Bench) -> float:
    path, count = directory(bench), bench.scale.victims
    start = time.monotonic()
    daemon = started(bench)
    try:
        found = daemon.wait_until_indexed(pause=0.001)["entries"]
        seconds = time.monotonic() - start
    finally:
        daemon.stop()
    if found != count:
        raise Unavailable(f"cached has {found} entries of {count} in {path}")
    return seconds / count * 1e6


def walk(bench: Bench) -> float:
    return entries(bench, "walk", directory(bench))["seconds"] / bench.scale.victims * 1e6


def ask(bench: Bench) -> float:
    urls = bench.url_file
    daemon = started(bench)
    try:
        report, was_indexed = bench.generator.load_during(
            daemon.target(urls), 32, lambda: indexed(daemon))
    finally:
        daemon.stop()
    if was_indexed:
        raise Unavailable("the scan finished before the first request")
    return report["p99Microseconds"] / 1e3


def indexed(daemon: Daemon) -> bool:
    """Whether a daemon had finished its scan already; waits until it has."""
    was_indexed = daemon.stats()["isIndexed"]
    daemon.wait_until_indexed(pause=0.005)
    return was_indexed
