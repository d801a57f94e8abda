"""Memory that is the process's own: RssAnon of /proc/PID/status."""

from __future__ import annotations

import json
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
    """What the index alone takes.

    The place for a program `cached-entries COUNT`, an executable target on CacheCore: it fills the
    index with so many synthetic entries in its own process and prints `{"bytesPerEntry":…}`, the
    growth of RssAnon over their number. Until there is one, the row says so.
    """
    program = bench.programs / "cached-entries"

    def prepare() -> Measurement:
        if not program.exists():
            raise Unavailable("cached-entries is not built")
        return round_

    def round_() -> float:
        result = subprocess.run(
            [str(program), str(bench.scale.entries)], capture_output=True, text=True)
        if result.returncode != 0:
            raise Unavailable(f"cached-entries: {result.stderr.strip()[:200]}")
        return json.loads(result.stdout)["bytesPerEntry"]

    return contest([Contender("cached", prepare)], 1)
