"""Smaller images: the cost of making one, and of showing a screen of them in place of their originals."""

from __future__ import annotations

import os
import resource
import subprocess
from pathlib import Path

from .bench import Bench
from .contest import Contender, Measurement, Outcome, contest
from .daemon import Daemon
from .session import progress, require

SIDE = 256
# 12 megapixels.
WIDTH, HEIGHT = 4000, 3000
PHOTOS = 20
CELLS = 1000

# Decodes each file to the pixels of a cell, with the shrinking that a JPEG decoder can do while it reads.
SHOW = """
import sys
from PIL import Image
for line in sys.stdin:
    image = Image.open(line.rstrip("\\n"))
    image.draft("RGB", (256, 256))
    image.thumbnail((256, 256))
    image.convert("RGBA").tobytes()
"""


def photos(bench: Bench) -> list[Path]:
    """JPEG files with the detail of photographs, below the origin."""
    folder = bench.session.directory / "origin/photos"
    files = [folder / f"{number}.jpg" for number in range(PHOTOS)]
    if not folder.exists():
        progress(f"  making {PHOTOS} photographs")
        folder.mkdir(parents=True)
        for number, file in enumerate(files):
            subprocess.run(
                [require("vips"), "perlin", f"{file}[Q=85]", str(WIDTH), str(HEIGHT), "--uchar",
                 "--cell-size", "64", "--seed", str(number)], check=True)
    return files


def daemon(bench: Bench) -> tuple[Daemon, list[str]]:
    """A daemon that has all originals, and their URLs."""
    files = photos(bench)
    urls = [f"{bench.nginx.base}/photos/{file.name}" for file in files]
    if not hasattr(bench, "photo_daemon"):
        bench.photo_daemon = Daemon(bench.session, bench.programs, "photos")
        bench.photo_daemon.fetch(urls)
    return bench.photo_daemon, urls


def measure_derive(bench: Bench) -> dict[str, Outcome]:
    """Milliseconds of processor time for an image."""
    return contest([
        Contender("cached", lambda: derive(bench)),
        Contender("vipsthumbnail", lambda: vipsthumbnail(bench)),
    ], bench.scale.rounds)


def derive(bench: Bench) -> Measurement:
    running, urls = daemon(bench)
    sizes = [f"{url}#side={SIDE}" for url in urls]

    def round_() -> float:
        running.call("Remove", {"urls": sizes})
        # A program that is running already, as on a screen that scrolls.
        running.fetch([f"{urls[0]}#side=32"])
        running.call("Remove", {"urls": [f"{urls[0]}#side=32"]})
        before = used(running)
        running.fetch(sizes)
        return (used(running) - before) / len(sizes) * 1e3

    return round_


def used(running: Daemon) -> float:
    """Seconds of processor time of the daemon and the programs it has started. proc(5)"""
    process = running.child.pid
    children = [
        child for thread in os.listdir(f"/proc/{process}/task")
        for child in Path(f"/proc/{process}/task/{thread}/children").read_text().split()]
    seconds = 0.0
    for number in [str(process), *children]:
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        # Also of its own that have ended.
        seconds += sum(int(fields[index]) for index in range(11, 15)) / os.sysconf("SC_CLK_TCK")
    return seconds


def vipsthumbnail(bench: Bench) -> Measurement:
    output = bench.session.directory / "thumbnails"
    output.mkdir(exist_ok=True)
    command = [require("vipsthumbnail"), "--size", f"{SIDE}", "-o", f"{output}/%s.jpg[Q=85,strip]",
               *map(str, photos(bench))]
    return lambda: cost(command) / PHOTOS * 1e3


def measure_show(bench: Bench) -> dict[str, Outcome]:
    """Seconds of processor time until all cells have their pixels."""
    running, urls = daemon(bench)
    running.fetch([f"{url}#side={SIDE}" for url in urls])

    def shown(suffix: str) -> Measurement:
        items = running.status([url + suffix for url in urls])
        paths = [item["path"] for item in items]
        lines = "".join(f"{paths[number % PHOTOS]}\n" for number in range(CELLS))
        # Debian's Python has Debian's Pillow.
        return lambda: cost(["/usr/bin/python3", "-c", SHOW], lines)

    return contest([
        Contender("cached", lambda: shown(f"#side={SIDE}")),
        Contender("originals", lambda: shown("")),
    ], bench.scale.few_rounds)


def cost(command: list[str], lines: str = "") -> float:
    """Seconds of processor time of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=lines, text=True, check=True, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
