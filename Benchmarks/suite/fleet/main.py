"""Runs the fleet and its simulation, and prints one Markdown table."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from ..daemon import Daemon
from ..session import Session, Unavailable, progress
from .engine import ROOT, Engine
from .load import Load
from .machine import Machine
from .model import Requests, Rules, simulate
from .origin import FleetOrigin

#: How far the requests to the origin may be from those of the simulation.
TOLERANCE = 0.15
#: New images of the quick origin that all machines prefetch at once. Each has to make room for them among the images that
#: it uses.
PREFETCHED = 60
#: New images of the slow origin that a person at each machine waits for.
AWAITED = 30


def main() -> int:
    options = parse()
    # A run that is ended by a signal cleans up like a finished one.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        return run(options)
    except KeyboardInterrupt:
        return 130
    except Unavailable as error:
        progress(f"fleet: {error}")
        return 1


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="Benchmarks/fleet", description="Run daemons that share a store, beside a simulation.")
    parser.add_argument("--machines", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=float, default=10, help="wants a second of each machine")
    parser.add_argument("--catalogue", type=int, default=2000, help="different images")
    parser.add_argument("--alpha", type=float, default=0.8, help="of the popularity (Zipf)")
    parser.add_argument("--held", type=int, default=150, help="entries that a machine holds")
    parser.add_argument("--lifetime", type=int, default=20, help="seconds that images are fresh")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scratch", metavar="DIR", type=Path, default=Path("/var/tmp"))
    parser.add_argument(
        "--bin", metavar="DIR", type=Path, default=ROOT / ".build/release",
        help="the directory of the programs")
    parser.add_argument(
        "--weed", metavar="FILE", type=Path, default=ROOT / ".build-python/bin/weed",
        help="the program of SeaweedFS")
    return parser.parse_args()


def run(options: argparse.Namespace) -> int:
    load = Load(options.machines, options.rate, options.seconds, options.catalogue, options.alpha,
                options.seed)
    with Session(options.scratch) as session:
        engine = Engine(session, options.weed)
        quick = options.catalogue + PREFETCHED
        origin = FleetOrigin(session, quick, options.lifetime, AWAITED + 1)
        progress(f"{options.machines} daemons, {options.seconds:.0f} s")
        machines = [
            Machine(Daemon(
                session, options.bin.resolve(), f"machine{number}",
                options=["--max-entries", str(options.held)],
                environment=engine.environment("fleet")), origin.urls)
            for number in range(options.machines)]
        measured = work(load, machines, origin)
        expected = simulate(load, Rules(options.lifetime, options.held))
        alone = simulate(load, Rules(options.lifetime, options.held, hasStore=False))
        print("\n".join(table(measured, expected, alone)))
        images = list(range(options.catalogue, quick))
        print(flash("a prefetch", images, machines, origin, priority="background"))
        alone = median(machines[0].fetch([quick + AWAITED]))
        images = list(range(quick, quick + AWAITED))
        print(flash("a flash", images, machines, origin), f"One download alone takes {alone:.2f} s.")
        failures = sum(machine.failures for machine in machines)
    if failures:
        print(f"{failures} fetches failed")
        return 1
    return 0 if agrees(measured, expected) else 1


def work(load: Load, machines: list[Machine], origin: FleetOrigin) -> Requests:
    """Puts the load on the daemons. Returns what they did."""
    wants: list[list[tuple[float, int]]] = [[] for _ in machines]
    for due, number, image in load.wants():
        wants[number].append((due, image))
    start = time.monotonic() + 0.5
    for thread in [machine.begin(own, start) for machine, own in zip(machines, wants)]:
        thread.join()
    stats = [machine.daemon.stats() for machine in machines]
    answers = origin.answers()
    lookups = sum(each["storeLookups"] for each in stats)
    downloads = sum(count for (_, status), count in answers.items() if status == 200)
    confirmations = sum(count for (_, status), count in answers.items() if status == 304)
    hits = sum(each["storeHits"] for each in stats)
    total = sum(len(own) for own in wants)
    return Requests(total, total - lookups, lookups, hits, downloads, confirmations)


def table(measured: Requests, expected: Requests, alone: Requests) -> list[str]:
    rows = [
        ("wants", "wants"), ("answered by the machine", "local"),
        ("questions to the store", "lookups"), ("answered by the store", "hits"),
        ("downloads from the origin", "downloads"), ("confirmations by the origin", "confirmations"),
    ]
    lines = ["| | measured | simulated | simulated without a store |", "|---|---|---|---|"]
    for title, name in rows:
        numbers = [getattr(each, name) for each in (measured, expected, alone)]
        lines.append(f"| {title} | " + " | ".join(f"{number:,}" for number in numbers) + " |")
    return lines


def flash(
    name: str, images: list[int], machines: list[Machine], origin: FleetOrigin, **options: str
) -> str:
    """All machines want the same new images at one moment."""
    seen = len(origin.log.read_text().splitlines())
    before = totals(machines)
    with ThreadPoolExecutor(len(machines)) as pool:
        answers = pool.map(lambda machine: machine.fetch(images, **options), machines)
        times = sorted(time for answer in answers for time in answer)
    after = totals(machines)
    requests = origin.answers(skipping=seen)
    total = sum(requests.values())
    counts = ", ".join(f"{after[name] - before[name]} {name[5:].lower()}" for name in before)
    return (
        f"{name} of {len(images)} new images by {len(machines)} machines: "
        f"{total / len(images):.1f} origin requests an image, at most {max(requests.values())}; "
        f"p50 {median(times):.2f} s, p99 {times[len(times) * 99 // 100]:.2f} s ({counts}).")


def totals(machines: list[Machine]) -> dict[str, int]:
    """What all machines together have asked of the store."""
    stats = [machine.daemon.stats() for machine in machines]
    names = ["storeLookups", "storeHits", "storeClaims", "storeAwaited", "storeLate"]
    return {name: sum(each[name] for each in stats) for name in names}


def agrees(measured: Requests, expected: Requests) -> bool:
    pairs = [(measured.downloads, expected.downloads),
             (measured.confirmations, expected.confirmations)]
    bad = [(real, model) for real, model in pairs if abs(real - model) > TOLERANCE * model + 10]
    for real, model in bad:
        print(f"{real} requests to the origin are not within {TOLERANCE:.0%} of {model}")
    return not bad
