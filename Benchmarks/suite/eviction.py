"""What it costs to let entries go, and what others notice of it.

Every round has entries of its own, published by `cached-entries fill` as downloads are. They are
small, 4 kB, so that the file system's own share of the work is small too.
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
# More than any round holds: what goes is what the round says.
ROOMY = ["--max-bytes", "1TiB", "--min-free", "0B"]
numbers = itertools.count(1)


def measure_cost(on_tmpfs: bool) -> Callable[[Bench], dict[str, Outcome]]:
    """Microseconds an entry, against a loop that unlinks as many files made the same way."""

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
    """The slowest hundredth of answers in milliseconds, against those of the same daemon before."""
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
    """Milliseconds of the slowest hundredth, before and during an eviction; images a second."""

    quiet: float
    evicting: float
    published: float


@functools.cache
def busy_rounds(bench: Bench) -> list[BusyRound]:
    return [busy_round(bench) for _ in range(bench.scale.few_rounds)]


def busy_round(bench: Bench) -> BusyRound:
    """Half of the URLs asked about are of images that stay: they came last."""
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
    """Begins an eviction of everything; seconds until so many entries are gone, and images published
    within them. When it ends is not measured: that depends on how much comes meanwhile."""
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
    """Downloads images nobody asks about for as long as the context lasts."""
    wishes = bench.session.directory / "meanwhile.urls"
    with wishes.open("w") as lines:
        for turn in range(10):
            lines.writelines(f"{url}?meanwhile={turn}\n" for url in bench.urls)
    with wishes.open() as lines:
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
    """Nanoseconds to choose one victim among ever fewer entries."""

    def contender(name: str, count: int) -> Contender:
        return Contender(name, lambda: lambda: entries(bench, "victims", count)["nanosecondsEach"])

    count = bench.scale.entries
    few = [(f"among {part:,}", part) for part in (count // 10, count // 100)]
    contenders = [contender(name, part) for name, part in [("cached", count), *few]]
    return contest(contenders, bench.scale.rounds)


def measure_pressure(on_tmpfs: bool) -> Callable[[Bench], dict[str, Outcome]]:
    """Milliseconds from a byte in the FIFO the daemon watches until a file is gone."""

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
    """A daemon that has read a directory of so many synthetic entries."""
    directory = fill(bench, on_tmpfs, count)
    daemon = Daemon(
        bench.session, bench.programs, directory.name, directory, ROOMY, environment)
    found = daemon.wait_until_indexed()["entries"]
    if found != count:
        daemon.stop()
        raise Unavailable(f"cached has {found} entries of {count}")
    return daemon


def fill(bench: Bench, on_tmpfs: bool, count: int) -> Path:
    """A new directory of so many synthetic entries."""
    parent = bench.session.directory
    if on_tmpfs:
        if not os.path.ismount(MEMORY):
            raise Unavailable(f"{MEMORY} is no tmpfs")
        parent = bench.session.directory_on(MEMORY)
    directory = parent / f"synthetic-{next(numbers)}"
    entries(bench, "fill", directory, "--count", count)
    return directory


def entries(bench: Bench, *arguments: object) -> dict:
    """Runs cached-entries; what it measured, if anything."""
    program = bench.programs / "cached-entries"
    if not program.exists():
        raise Unavailable("cached-entries is not built")
    result = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True)
    if result.returncode != 0:
        said = result.stderr.strip().splitlines() or [f"status {result.returncode}"]
        raise Unavailable(said[0].removeprefix("Error: "))
    return json.loads(result.stdout or "{}")
