"""The machine and the programs a table was measured with."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import date
from pathlib import Path

from .session import find, progress


def warn_if_busy() -> None:
    load = os.getloadavg()[0]
    if load > 0.5:
        progress(
            f"the machine is busy (load {load:.1f}): ratios are unreliable, and times are useless")


def describe(scratch: Path, root: Path) -> list[str]:
    today = date.today().isoformat()
    commit = first_line("git", "-C", str(root), "describe", "--always", "--dirty")
    cores = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return [
        f"- {today}, commit {commit}",
        f"- {processor()}, {cores} cores, {memory:.0f} GiB; Linux {platform.release()}; "
        f"{file_system(scratch)}",
        "- " + "; ".join([
            first_line("nginx", "-v").removeprefix("nginx version: "),
            first_line("redis-server", "--version").split(" sha=")[0],
            first_line("aria2c", "--version"),
            first_line("curl", "--version").split(" (")[0],
            first_line("swift", "--version"),
        ]),
    ]


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(": ", 1)[1]
    return platform.machine()


def file_system(directory: Path) -> str:
    return first_line("findmnt", "--noheadings", "--output", "FSTYPE", "--target", str(directory))


def first_line(*command: str) -> str:
    """The first line a program prints about itself, on either stream."""
    program = find(command[0])
    if program is None:
        return f"no {command[0]}"
    result = subprocess.run(
        [program, *command[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = result.stdout.splitlines()
    return lines[0].strip() if lines else f"{command[0]} ?"
