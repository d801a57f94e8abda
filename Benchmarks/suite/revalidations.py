"""Images that are cached already: their origin is asked whether they have changed, and answers 304 each time."""

from __future__ import annotations

import subprocess

from .bench import Bench
from .contest import Contender, Measurement, Outcome, contest
from .downloads import timed
from .session import Unavailable, require


def measure(bench: Bench) -> dict[str, Outcome]:
    """Seconds until all images are confirmed, and that is on the disk."""
    contenders = [
        Contender("cached", lambda: cached(bench)),
        Contender("curl -Z -z", lambda: curl(bench)),
    ]
    return contest(contenders, bench.scale.download_rounds)


def cached(bench: Bench) -> Measurement:
    daemon, count = bench.complete_daemon, len(bench.urls)
    listing = bench.session.directory / "revalidated.urls"
    listing.write_text("".join(f"{url}\n" for url in bench.urls))

    def round_() -> float:
        before = daemon.stats()["revalidated"]
        seconds = timed(lambda: daemon.fetch_listed(listing, "--refresh"))
        daemon.check_fetched(count)
        check(daemon.stats()["revalidated"] - before, count)
        return seconds

    return round_


def curl(bench: Bench) -> Measurement:
    """Each request has the time of its own file, as that of a cached image has. curl can do this for many files only
    if each URL has options of its own."""
    config = bench.session.directory / "curl-revalidations.conf"
    config.write_text("next\n".join(
        f'url = "{url}"\noutput = "/dev/null"\ntime-cond = "{bench.origin.directory / name}"\n'
        'write-out = "%{http_code}\\n"\n'
        for url, name in zip(bench.urls, bench.origin.names)))
    command = [require("curl"), "--silent", "--show-error", "-Z", "--parallel-max", "64",
               "-K", str(config)]

    def round_() -> float:
        answers = ""

        def run() -> None:
            nonlocal answers
            answers = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout

        seconds = timed(run)
        check(answers.split().count("304"), len(bench.urls))
        return seconds

    return round_


def check(confirmed: int, count: int) -> None:
    if confirmed != count:
        raise Unavailable(f"the origin confirmed {confirmed} of {count} images")
