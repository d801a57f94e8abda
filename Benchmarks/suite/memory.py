"""The private memory of a process: RssAnon in /proc/PID/status."""

from __future__ import annotations

import subprocess
import time
from typing import Callable

from .bench import Bench
from .contest import Contender, Outcome, contest
from .daemon import Daemon
from .session import Unavailable


def measure_idle(bench: Bench) -> dict[str, Outcome]:
    contenders = [Contender("cached", lambda: lambda: idle(bench))]
    return contest(contenders, bench.scale.few_rounds)


def idle(bench: Bench) -> float:
    """A daemon on an empty directory that has answered one call, in megabytes."""
    daemon = Daemon(bench.session, bench.programs, "cached-idle")
    try:
        daemon.status(["http://127.0.0.1/missing.png"])
        # Its start should be finished by then.
        time.sleep(1)
        return bench.generator.memory(daemon.child.pid)["rssAnonBytes"] / 1e6
    finally:
        daemon.stop()


def measure_entries(state: str) -> Callable[[Bench], dict[str, Outcome]]:
    """The memory per entry in a state of `cached-entries hold`: a process with all entries compared with
    one with none."""

    def measure(bench: Bench) -> dict[str, Outcome]:
        def round_() -> float:
            count = bench.scale.entries
            return (holding(bench, count, state) - holding(bench, 0, state)) / count

        return contest([Contender("cached", lambda: round_)], bench.scale.few_rounds)

    return measure


def holding(bench: Bench, entries: int, state: str) -> int:
    """RssAnon of a process with this many synthetic entries, in bytes.

    `cached-entries hold COUNT` prints each state it reaches and waits for a line to continue.
    """
    program = bench.programs / "cached-entries"
    if not program.exists():
        raise Unavailable("cached-entries is not built")
    with subprocess.Popen(
        [str(program), "hold", str(entries)], text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        while (reached := child.stdout.readline().strip()) != state:
            if not reached:
                raise Unavailable(f"cached-entries never printed {state}")
            child.stdin.write("\n")
            child.stdin.flush()
        return bench.generator.memory(child.pid)["rssAnonBytes"]
