"""Memory that is the process's own: RssAnon of /proc/PID/status."""

from __future__ import annotations

import subprocess
import time

from .bench import Bench
from .contest import Contender, Measurement, Outcome, contest
from .daemon import Daemon
from .session import Unavailable


def measure_idle(bench: Bench) -> dict[str, Outcome]:
    contenders = [Contender("cached", lambda: lambda: idle(bench))]
    return contest(contenders, bench.scale.download_rounds)


def idle(bench: Bench) -> float:
    """A daemon on an empty directory that has answered once, in megabytes."""
    daemon = Daemon(bench.session, bench.programs, "cached-idle")
    try:
        daemon.status(["http://127.0.0.1/missing.png"])
        # Whatever it does after its start should be over by then.
        time.sleep(1)
        return bench.generator.memory(daemon.child.pid)["rssAnonBytes"] / 1e6
    finally:
        daemon.stop()


def measure_entries(bench: Bench) -> dict[str, Outcome]:
    """What the index alone takes: a process with all entries against one with none."""

    def prepare() -> Measurement:
        if not (bench.programs / "cached-entries").exists():
            raise Unavailable("cached-entries is not built")
        return round_

    def round_() -> float:
        count = bench.scale.entries
        return (holding(bench, count) - holding(bench, 0)) / count

    return contest([Contender("cached", prepare)], bench.scale.download_rounds)


def holding(bench: Bench, entries: int) -> int:
    """RssAnon of a process that holds so many synthetic entries, in bytes.

    `cached-entries COUNT` fills an index of CacheCore, prints a line, and ends with its input.
    """
    with subprocess.Popen(
        [str(bench.programs / "cached-entries"), str(entries)], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as child:
        if not child.stdout.readline():
            raise Unavailable("cached-entries printed nothing")
        return bench.generator.memory(child.pid)["rssAnonBytes"]
