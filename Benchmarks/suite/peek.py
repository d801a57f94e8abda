"""The state of one image, asked of the directory by the client libraries, and asked of servers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Callable

from .bench import Bench
from .contest import Contender, Measurement, Outcome, contest
from .generator import Target
from .session import Unavailable, require

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "Benchmarks/Peek"


def measure(state: str) -> Callable[[Bench], dict[str, Outcome]]:
    """Every image asked about is `cached` or `missing`."""

    def measure(bench: Bench) -> dict[str, Outcome]:
        urls = bench.session.directory / f"{state}.urls"
        urls.write_text("".join(f"{url}\n" for url in bench.urls[state != "cached"::2]))

        def script(*command: str) -> Callable[[], Measurement]:
            return lambda: looking(bench, [require(command[0]), *command[1:]], state, urls)

        def program(how: str) -> Callable[[], Measurement]:
            return lambda: looking(bench, [str(compiled(bench, "peek")), how], state, urls)

        def server(target: Callable[[], Target]) -> Callable[[], Measurement]:
            return lambda: asking(bench, target())

        return contest([
            Contender("cached", program("libcached")),
            Contender("system calls", program("calls")),
            Contender("stat(2)", program("stat")),
            Contender("Python", script(sys.executable, str(PROGRAMS / "peek.py"))),
            Contender("JavaScript", script("node", str(PROGRAMS / "peek.mjs"))),
            Contender("Status", server(lambda: bench.daemon.target(urls))),
            Contender("nginx", server(lambda: bench.target("nginx"))),
            Contender("Redis", server(lambda: bench.redis.target(urls))),
        ], bench.scale.rounds)

    return measure


def looking(bench: Bench, command: list[str], state: str, urls: Path) -> Measurement:
    """Microseconds of a question by a program that reads the directory."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "clients/python"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [*command, str(bench.daemon.directory), state, str(bench.scale.seconds)]

    def measure() -> float:
        with urls.open() as lines:
            result = subprocess.run(command, stdin=lines, capture_output=True, text=True, env=environment)
        if result.returncode != 0:
            raise Unavailable(result.stderr.strip() or f"status {result.returncode}")
        return float(result.stdout)

    return measure


def asking(bench: Bench, target: Target) -> Measurement:
    """The median round trip to a server on one connection, in microseconds."""
    return lambda: bench.generator.load(target, 1)["p50Microseconds"]


def compiled(bench: Bench, name: str) -> Path:
    """A program over libcached, built as it is installed."""
    directory = bench.session.directory / "libcached"
    program = directory / name
    if program.exists():
        return program
    for command in (
        [ROOT / "Sources/libcached/build", directory],
        [require("cc"), "-O2", "-D_GNU_SOURCE", "-I", directory, PROGRAMS / f"{name}.c", "-o", program,
         "-L", directory, "-lcached", "-Wl,-rpath,$ORIGIN"],
    ):
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            said = result.stderr.strip().splitlines()
            raise Unavailable(said[-1] if said else f"{command[0]} failed")
    return program
