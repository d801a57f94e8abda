"""The cost of scanning a directory at the start, and the effect on other clients.

All rounds scan one directory of synthetic entries. Their names and attributes are in the kernel's memory
after the first scan, so the rounds compare work and not disks. In one row, the kernel forgets them before each
round.
"""

from __future__ import annotations

import functools
import os
import subprocess
import time
from pathlib import Path
from typing import Callable

from .bench import Bench
from .contest import Contender, Outcome, contest
from .daemon import Daemon
from .eviction import ROOMY, entries, fill
from .machine import file_system
from .session import Unavailable

DROP_CACHES = Path("/proc/sys/vm/drop_caches")


def measure_cost(bench: Bench) -> dict[str, Outcome]:
    """Microseconds per entry from the start of the process until the scan has finished, compared with a
    loop of readdir, fstatat and one lgetxattr."""
    contenders = [
        Contender("cached", lambda: lambda: read(bench, bench.scale.victims)),
        Contender("readdir", lambda: lambda: walk(bench, bench.scale.victims)),
    ]
    return contest(contenders, bench.scale.download_rounds)


def measure_million(is_cold: bool) -> Callable[[Bench], dict[str, Outcome]]:
    """Seconds for a larger directory."""

    def measure(bench: Bench) -> dict[str, Outcome]:
        count = bench.scale.entries

        def seconds(scan: Callable[[Bench, int], float]) -> float:
            directory(bench, count)
            if is_cold:
                forget(bench)
            return scan(bench, count) * count / 1e6

        contenders = [
            Contender("cached", lambda: lambda: seconds(read)),
            Contender("readdir", lambda: lambda: seconds(walk)),
        ]
        return contest(contenders, bench.scale.few_rounds)

    return measure


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
def directory(bench: Bench, count: int) -> Path:
    made = fill(bench, False, count)
    # The first read comes from the disk.
    entries(bench, "walk", made)
    return made


def forget(bench: Bench) -> None:
    """Lets the kernel forget all names, attributes and pages, but not those of the programs."""
    if file_system(bench.session.directory) == "tmpfs":
        raise Unavailable("not possible: a tmpfs is always in memory")
    os.sync()
    try:
        DROP_CACHES.write_text("3")
    except OSError as error:
        raise Unavailable(f"the kernel's caches cannot be dropped: {error}") from error
    for program in ("cached", "cached-entries"):
        subprocess.run(
            [bench.programs / program, "--help"], stdout=subprocess.DEVNULL, check=True)


def started(bench: Bench, count: int) -> Daemon:
    path = directory(bench, count)
    return Daemon(bench.session, bench.programs, path.name, path, ROOMY)


def read(bench: Bench, count: int) -> float:
    path = directory(bench, count)
    start = time.monotonic()
    daemon = started(bench, count)
    try:
        found = daemon.wait_until_indexed(pause=0.001)["entries"]
        seconds = time.monotonic() - start
    finally:
        daemon.stop()
    if found != count:
        raise Unavailable(f"cached has {found} entries of {count} in {path}")
    return seconds / count * 1e6


def walk(bench: Bench, count: int) -> float:
    return entries(bench, "walk", directory(bench, count))["seconds"] / count * 1e6


def ask(bench: Bench) -> float:
    urls = bench.url_file
    daemon = started(bench, bench.scale.victims)
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
