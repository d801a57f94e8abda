"""Complete processes, from fork to exit: the price of one question for a shell script."""

from __future__ import annotations

from .bench import Bench
from .contest import Contender, Measurement, Outcome, contest
from .session import require


def measure(bench: Bench) -> dict[str, Outcome]:
    contenders = [
        Contender("cached", lambda: cachectl(bench)),
        Contender("redis-cli GET", lambda: redis_cli(bench)),
        Contender("curl --unix-socket", lambda: curl(bench)),
        Contender("stat", lambda: stat(bench)),
    ]
    return contest(contenders, bench.scale.rounds)


def cachectl(bench: Bench) -> Measurement:
    """Its exit status is 0 only if the image is cached."""
    command = [str(bench.daemon.cachectl), "status", bench.cached_urls[0]]
    return timing(bench, command, bench.daemon.environment)


def redis_cli(bench: Bench) -> Measurement:
    command = [require("redis-cli"), "-s", str(bench.redis.socket), "GET", bench.urls[0]]
    return timing(bench, command)


def curl(bench: Bench) -> Measurement:
    command = [require("curl"), "--silent", "--fail", "--unix-socket", str(bench.nginx.socket),
               "http://localhost/status/000000.png"]
    return timing(bench, command)


def stat(bench: Bench) -> Measurement:
    """The cost without any daemon; any image file will do."""
    return timing(bench, [require("stat"), str(bench.origin.directory / bench.origin.names[0])])


def timing(bench: Bench, command: list[str], env: dict | None = None) -> Measurement:
    """The median in milliseconds."""
    count = bench.scale.processes
    return lambda: bench.generator.processes(command, count, env)["p50Microseconds"] / 1e3
