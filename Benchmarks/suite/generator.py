"""Calls the load generator."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, TypeVar

from .session import Unavailable

Done = TypeVar("Done")


@dataclass
class Target:
    """A server, its protocol, and the lines to request."""

    address: str
    protocol: str
    lines: Path


class Generator:
    """Runs cached-bench; a failed run makes the contender unavailable."""

    def __init__(self, program: Path, seconds: float) -> None:
        self.program = program
        self.seconds = seconds

    def load(self, target: Target, connections: int, urls_per_call: int = 1) -> dict:
        return self.run(
            "roundtrips", "--target", target.address, "--protocol", target.protocol,
            "--urls", target.lines, "--connections", connections,
            "--urls-per-call", urls_per_call, "--duration", self.seconds)

    def load_during(
        self, target: Target, connections: int, work: Callable[[], Done]
    ) -> tuple[dict, Done]:
        """Loads the server with one URL per call while `work` runs; returns the report and its result."""
        child = subprocess.Popen(
            [str(self.program), "roundtrips", "--target", target.address,
             "--protocol", target.protocol, "--urls", str(target.lines),
             "--connections", str(connections), "--warmup", "0", "--duration", "600",
             "--until-input-ends"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with child:
            if child.stdout.readline() != "measuring\n":
                raise Unavailable("the load generator did not start")
            done = work()
            child.stdin.close()
            report = child.stdout.read()
        if child.returncode != 0:
            raise Unavailable(f"the load generator ended with status {child.returncode}")
        return json.loads(report), done

    def processes(self, command: list[str], count: int, env: dict | None = None) -> dict:
        return self.run("processes", "--count", count, "--", *command, env=env)

    def memory(self, pid: int) -> dict:
        return self.run("memory", pid)

    def run(self, *arguments: object, env: dict | None = None) -> dict:
        if not self.program.exists():
            raise Unavailable(f"{self.program.name} is not built")
        result = subprocess.run(
            [str(self.program), *map(str, arguments)], capture_output=True, text=True, env=env)
        if result.returncode != 0:
            said = result.stderr.strip().splitlines() or [f"status {result.returncode}"]
            raise Unavailable(said[0].removeprefix("Error: "))
        return json.loads(result.stdout)
