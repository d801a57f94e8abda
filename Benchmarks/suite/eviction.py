"""The cost of evicting entries, and the effect on other clients.

Every round has its own entries, written by `cached-entries fill` with the attributes of real ones. They are small, 4 kB,
so that the file system's share of the work is small too.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Iterator

from .bench import Bench
from .contest import Contender, Outcome, contest
from .daemon import Daemon
from .session import Unavailable, progress

MEMORY = Path("/dev/shm")
# More than any round needs, so that only the round itself evicts.
ROOMY = ["--max-bytes", "1TiB", "--min-free", "0B"]
numbers = itertools.count(1)


def measure_cost(on_tmpfs: bool) -> Callable[[Bench], dict[str, Outcome]]:
    """Microseconds per entry, compared with a loop that unlinks files created the same way."""

    def measure(bench: Bench) -> dict[str, Outcome]:
        contenders = [
            Contender("cached", lambda: lambda: evict(bench, on_tmpfs)),
            Contender("unlinkat", lambda: lambda: unlink(bench, on_tmpfs)),
        ]
        return contest(contenders, bench.scale.few_rounds)

    return measure


def evict(bench: Bench, on_tmpfs: bool) -> float:
    count = bench.scale.victims
    daemon = filled(bench, on_tmpfs, count)
    try:
        os.sync()
        start = time.monotonic()
        gone = daemon.call("Evict", {"toBytes": 0})["entries"]
        seconds = time.monotonic() - start
    finally:
        daemon.stop()
    if gone != count:
        raise Unavailable(f"{gone} of {count} entries were evicted")
    return seconds / count * 1e6


def unlink(bench: Bench, on_tmpfs: bool) -> float:
    count = bench.scale.victims
    directory = fill(bench, on_tmpfs, count)
    os.sync()
    return entries(bench, "unlink", directory, "--count", count)["seconds"] / count * 1e6


def measure_status(bench: Bench) -> dict[str, Outcome]:
    """The 99th percentile of latency in milliseconds, compared with the same daemon before."""
    return {
        "cached": outcome(bench, lambda round_: round_.evicting),
        "before": outcome(bench, lambda round_: round_.quiet),
    }


def measure_downloads(bench: Bench) -> dict[str, Outcome]:
    return {"cached": outcome(bench, lambda round_: round_.published)}


def outcome(bench: Bench, figure: Callable[[BusyRound], float]) -> Outcome:
    try:
        return Outcome([figure(round_) for round_ in busy_rounds(bench)])
    except Unavailable as error:
        return Outcome(reason=str(error))


@dataclass
class BusyRound:
    """The 99th percentile in milliseconds, before and during an eviction; images per second."""

    quiet: float
    evicting: float
    published: float


@functools.cache
def busy_rounds(bench: Bench) -> list[BusyRound]:
    return [busy_round(bench) for _ in range(bench.scale.few_rounds)]


def busy_round(bench: Bench) -> BusyRound:
    """Half of the requested URLs are images that stay, because they were cached last."""
    victims = bench.scale.victims
    daemon = filled(bench, False, victims * 6 // 5)
    try:
        daemon.fetch(bench.cached_urls)
        target = daemon.target(bench.url_file)
        os.sync()
        quiet = bench.generator.load(target, 32)["p99Microseconds"] / 1e3
        with downloading(bench, daemon):
            report, (seconds, published) = bench.generator.load_during(
                target, 32, lambda: evict_some(daemon, victims))
            states = [item["state"] for item in daemon.status(bench.cached_urls)]
        evicting = report["p99Microseconds"] / 1e3
        progress(
            f"  {victims / seconds:,.0f} evicted/s for {seconds:.1f} s, p99 {evicting:.2f} ms "
            f"(before: {quiet:.2f}), {published / seconds:,.0f} images/s")
        if states.count("cached") != len(states):
            raise Unavailable("an image that should have stayed was evicted")
        return BusyRound(quiet, evicting, published / seconds)
    finally:
        daemon.stop()


def evict_some(daemon: Daemon, count: int) -> tuple[float, int]:
    """Starts evicting everything. Returns the seconds until `count` entries are evicted, and the number of
    images published in that time. The end of the eviction is not measured: it depends on the number of
    images that arrive meanwhile."""
    before = daemon.stats()
    start = time.monotonic()
    daemon.begin("Evict", {"toBytes": 0})
    while (now := daemon.stats())["evicted"] - before["evicted"] < count:
        if time.monotonic() > start + 120:
            raise Unavailable(f"{now['evicted']} of {count} entries were evicted in two minutes")
        time.sleep(0.01)
    return time.monotonic() - start, now["published"] - before["published"]


@contextlib.contextmanager
def downloading(bench: Bench, daemon: Daemon) -> Iterator[None]:
    """Downloads images that no client queries, for as long as the context lasts."""
    listing = bench.session.directory / "meanwhile.urls"
    with listing.open("w") as lines:
        for turn in range(30):
            lines.writelines(f"{url}?meanwhile={turn}\n" for url in bench.urls)
    with listing.open() as lines:
        child = subprocess.Popen(
            [str(daemon.cachectl), "fetch", "-"], stdin=lines, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=daemon.environment)
    try:
        yield
        if child.poll() is not None:
            raise Unavailable("the downloads ended before the eviction")
    finally:
        child.terminate()
        child.wait()


def measure_choice(bench: Bench) -> dict[str, Outcome]:
    """Nanoseconds to choose one victim, for several numbers of entries."""

    def contender(name: str, count: int) -> Contender:
        return Contender(name, lambda: lambda: entries(bench, "victims", count)["nanosecondsEach"])

    count = bench.scale.entries
    few = [(f"among {part:,}", part) for part in (count // 10, count // 100)]
    contenders = [contender(name, part) for name, part in [("cached", count), *few]]
    return contest(contenders, bench.scale.rounds)


def measure_pressure(on_tmpfs: bool) -> Callable[[Bench], dict[str, Outcome]]:
    """Milliseconds from a byte in the FIFO that the daemon watches until a file is removed."""

    def measure(bench: Bench) -> dict[str, Outcome]:
        contenders = [Contender("cached", lambda: lambda: pressure(bench, on_tmpfs))]
        return contest(contenders, bench.scale.rounds)

    return measure


def pressure(bench: Bench, on_tmpfs: bool) -> float:
    fifo = bench.session.directory / f"pressure-{next(numbers)}"
    os.mkfifo(fifo)
    daemon = filled(
        bench, on_tmpfs, bench.scale.victims // 10, {"MEMORY_PRESSURE_WATCH": str(fifo)})
    try:
        deadline = time.monotonic() + 10
        while str(fifo) not in daemon.stats()["pressureSource"]:
            if time.monotonic() > deadline:
                raise Unavailable("cached does not watch the FIFO")
            time.sleep(0.01)
        return bench.generator.run(
            "first-unlink", "--fifo", fifo, "--directory", daemon.directory)["milliseconds"]
    finally:
        daemon.stop()


def filled(
    bench: Bench, on_tmpfs: bool, count: int, environment: dict[str, str] = {}
) -> Daemon:
    """A daemon that has scanned a directory of `count` synthetic entries."""
    directory = fill(bench, on_tmpfs, count)
    daemon = Daemon(
        bench.session, bench.programs, directory.name, directory, ROOMY, environment)
    found = daemon.wait_until_indexed()["entries"]
    if found != count:
        daemon.stop()
        raise Unavailable(f"cached has {found} entries of {count}")
    return daemon


def fill(bench: Bench, on_tmpfs: bool, count: int) -> Path:
    """A new directory of `count` synthetic entries."""
    parent = bench.session.directory
    if on_tmpfs:
        if not os.path.ismount(MEMORY):
            raise Unavailable(f"{MEMORY} is not a tmpfs")
        parent = bench.session.directory_on(MEMORY)
    directory = parent / f"synthetic-{next(numbers)}"
    entries(bench, "fill", directory, "--count", count)
    return directory


def entries(bench: Bench, *arguments: object) -> dict:
    """Runs cached-entries; returns its measurement, if it prints one."""
    program = bench.programs / "cached-entries"
    if not program.exists():
        raise Unavailable("cached-entries is not built")
    result = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True)
    if result.returncode != 0:
        said = result.stderr.strip().splitlines() or [f"status {result.returncode}"]
        raise Unavailable(said[0].removeprefix("Error: "))
    return json.loads(result.stdout or "{}")
