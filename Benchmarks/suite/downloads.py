"""Many images from one origin into an empty directory, until they are on the disk.

Every round has its own directory, and nothing is deleted before the run ends: ext4 without a journal
skips recently freed inodes one by one, which made the next 10,000 files take five times as long for every
contender. But the files of a round are emptied after it. That frees the disk, and the memory too: on a virtual
machine memory that was never used has to come from the host, which takes several microseconds per page.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import time
import uuid
from pathlib import Path
from typing import Callable

from .bench import Bench
from .contest import Contender, Measurement, Outcome, contest
from .daemon import Daemon
from .origin import Origin
from .session import Unavailable, require


def measure(bench: Bench) -> dict[str, Outcome]:
    contenders = [
        Contender("cached", lambda: cached(bench, "cached", bench.origin, bench.urls)),
        Contender("curl -Z", lambda: curl(bench, "curl", bench.origin, bench.urls)),
        Contender("aria2c -j16", lambda: aria2c(bench)),
    ]
    return contest(contenders, bench.scale.download_rounds)


def measure_wide(bench: Bench) -> dict[str, Outcome]:
    """The daemon with as many connections to the host as curl uses."""
    contenders = [
        Contender("cached", lambda: cached(
            bench, "cached-wide", bench.origin, bench.urls, ("--max-transfers-per-host", "64"))),
        Contender("curl -Z", lambda: curl(bench, "curl-wide", bench.origin, bench.urls)),
    ]
    return contest(contenders, bench.scale.download_rounds)


def measure_http2(bench: Bench) -> dict[str, Outcome]:
    """The same images over TLS; aria2 does not speak HTTP/2."""
    def trust(option: str) -> tuple[str, ...]:
        return (option, str(bench.nginx.certificate))

    contenders = [
        Contender("cached", lambda: cached(
            bench, "cached-http2", bench.origin, bench.secure_urls, trust("--ca-file"))),
        Contender("curl -Z", lambda: curl(
            bench, "curl-http2", bench.origin, bench.secure_urls,
            ("--http2", *trust("--cacert")))),
    ]
    return contest(contenders, bench.scale.download_rounds)


def measure_small(bench: Bench) -> dict[str, Outcome]:
    return measure_size(bench, "small", bench.small_origin)


def measure_large(bench: Bench) -> dict[str, Outcome]:
    return measure_size(bench, "large", bench.large_origin)


def measure_size(bench: Bench, size: str, origin: Origin) -> dict[str, Outcome]:
    """Images that are all smaller or larger than usual."""
    urls = origin.urls(bench.nginx.base)
    contenders = [
        Contender("cached", lambda: cached(bench, f"cached-{size}", origin, urls)),
        Contender("curl -Z", lambda: curl(bench, f"curl-{size}", origin, urls)),
    ]
    return contest(contenders, bench.scale.rounds)


def cached(
    bench: Bench, name: str, origin: Origin, urls: list[str], options: tuple[str, ...] = ()
) -> Measurement:
    """A daemon just started on an empty directory; its start is not measured."""
    names = [str(uuid.uuid5(uuid.NAMESPACE_URL, url)) for url in urls]
    listing = bench.session.directory / f"{name}.urls"
    listing.write_text("".join(f"{url}\n" for url in urls))
    numbers = itertools.count(1)

    def round_() -> float:
        daemon = Daemon(
            bench.session, bench.programs, f"{name}-downloads-{next(numbers)}",
            options=options)
        try:
            seconds = timed(lambda: daemon.fetch_listed(listing))
            daemon.check_fetched(len(urls))
            check(daemon.directory, names, origin.bytes)
        finally:
            daemon.stop()
        empty(daemon.directory, names)
        return seconds

    return round_


def curl(
    bench: Bench, name: str, origin: Origin, urls: list[str], options: tuple[str, ...] = ()
) -> Measurement:
    """Its output names are relative to the directory it runs in."""
    config = bench.session.directory / f"{name}.conf"
    config.write_text("".join(
        f'url = "{url}"\noutput = "{file}"\n'
        for url, file in zip(urls, origin.names)))
    command = [require("curl"), "--silent", "--show-error", "--fail", "-Z", "--parallel-max", "64",
               *options, "-K", str(config)]
    return downloader(bench, name, origin, command)


def aria2c(bench: Bench) -> Measurement:
    listing = bench.session.directory / "aria2.urls"
    listing.write_text("".join(
        f"{url}\n  out={name}\n" for url, name in zip(bench.urls, bench.origin.names)))
    command = [require("aria2c"), "--no-conf", "--quiet", "-j16", "--dir=.",
               f"--input-file={listing}"]
    return downloader(bench, "aria2", bench.origin, command)


def downloader(bench: Bench, name: str, origin: Origin, command: list[str]) -> Measurement:
    """A command that fills its working directory with the origin's files."""
    numbers = itertools.count(1)

    def round_() -> float:
        directory = bench.session.directory / f"{name}-downloads-{next(numbers)}"
        directory.mkdir()
        seconds = timed(lambda: run(command, directory))
        check(directory, origin.names, origin.bytes)
        empty(directory, origin.names)
        return seconds

    return round_


def run(command: list[str], directory: Path) -> None:
    result = subprocess.run(
        command, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        raise Unavailable(f"status {result.returncode}: {result.stderr.strip()[:200]}")


def timed(work: Callable[[], None]) -> float:
    """Seconds until `work` is done and on the disk; data written earlier is synced first."""
    os.sync()
    start = time.monotonic()
    work()
    os.sync()
    return time.monotonic() - start


def check(directory: Path, names: list[str], size: int) -> None:
    """A download counts only if every byte has arrived."""
    try:
        total = sum((directory / name).stat().st_size for name in names)
    except OSError as error:
        raise Unavailable(f"not everything was downloaded: {error}") from error
    if total != size:
        raise Unavailable(f"{total} bytes downloaded, not {size}")


def empty(directory: Path, names: list[str]) -> None:
    """Frees the bytes of the downloaded files, on the disk and in memory, but no inode."""
    for name in names:
        os.truncate(directory / name, 0)
