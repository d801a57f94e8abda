"""Options, the order of the work, and the guarantee that no process is left running."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from . import machine, report
from .bench import Bench, Scale
from .rows import ROWS
from .session import Session, progress

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    options = parse()
    # A run that is ended by a signal cleans up like a finished one.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        if options.build:
            build()
        lines = measure(options)
    except KeyboardInterrupt:
        return 130
    except subprocess.CalledProcessError as error:
        progress(f"{error}")
        return 1
    print("\n".join(lines))
    if options.write:
        report.write(options.write, lines)
    return 0


def parse() -> argparse.Namespace:
    names = [row.name for row in ROWS]
    parser = argparse.ArgumentParser(
        prog="Benchmarks/run", description="Measure cached against its peers in the same run.")
    parser.add_argument(
        "--only", metavar="ROW", action="append", choices=names,
        help=f"measure only this row; can be repeated: {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="a short run, to check that it works")
    parser.add_argument("--rounds", type=int, help="the number of interleaved rounds per row")
    parser.add_argument("--write", metavar="FILE", type=Path, help="also write the table to FILE")
    parser.add_argument(
        "--scratch", metavar="DIR", type=Path, default=Path("/var/tmp"),
        help="the directory for caches and downloads; its file system is part of the result")
    parser.add_argument(
        "--bin", metavar="DIR", type=Path, default=ROOT / ".build/release",
        help="the directory of the programs")
    parser.add_argument(
        "--no-build", dest="build", action="store_false", help="measure the programs as they are")
    return parser.parse_args()


def build() -> None:
    """Builds the programs with the release settings."""
    progress("building")
    command = ["make", "build"]
    subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)


def measure(options: argparse.Namespace) -> list[str]:
    machine.warn_if_busy()
    scale = Scale.quick() if options.quick else Scale.full()
    if options.rounds:
        scale = scale.with_rounds(options.rounds)
    with Session(options.scratch) as session:
        bench = Bench(session, options.bin.resolve(), scale)
        rows = [row for row in ROWS if not options.only or row.name in options.only]
        table: list[str] = report.header()
        for row in rows:
            title = row.title.format(**asdict(scale))
            progress(f"{row.name}: {title}")
            table += report.lines(row, title, row.measure(bench))
        about = machine.describe(options.scratch, ROOT)
        return table + [""] + about + scale.describe()
