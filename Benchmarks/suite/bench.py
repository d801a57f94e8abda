"""The servers of a run, shared by the rows and started when the first row needs them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from .daemon import Daemon
from .generator import Generator, Target
from .origin import LARGE, MEDIUM, SMALL, Origin
from .peers import Aria2, Echo, Nginx, Redis
from .session import Session, Unavailable, progress


@dataclass(frozen=True)
class Scale:
    """The amount of work measured."""

    rounds: int
    # Rounds differ by a tenth from one to the next, so a median of three says little about a close race.
    download_rounds: int
    # For measurements that take long or vary little.
    few_rounds: int
    seconds: float
    processes: int
    images: int
    small_images: int
    large_images: int
    entries: int
    victims: int

    @staticmethod
    def full() -> Scale:
        return Scale(
            rounds=5, download_rounds=9, few_rounds=3, seconds=2, processes=100, images=10_000,
            small_images=50_000, large_images=200, entries=1_000_000, victims=100_000)

    @staticmethod
    def quick() -> Scale:
        return Scale(
            rounds=2, download_rounds=1, few_rounds=1, seconds=0.3, processes=20, images=2_000,
            small_images=5_000, large_images=20, entries=100_000, victims=10_000)

    def with_rounds(self, rounds: int) -> Scale:
        return replace(self, rounds=rounds, download_rounds=rounds, few_rounds=rounds)

    def describe(self) -> list[str]:
        return [
            f"- Medians of {self.rounds} interleaved rounds, each {self.seconds:g} s of load or "
            f"{self.processes} processes; {self.download_rounds} for downloads of 22 kB, "
            f"revalidation, verification and scans; {self.few_rounds} for memory, eviction and "
            f"scans of {self.entries:,} entries"
        ]


class Bench:
    """The run's servers and files. A property that is not available raises `Unavailable`."""

    def __init__(self, session: Session, programs: Path, scale: Scale) -> None:
        self.session = session
        self.programs = programs
        self.scale = scale
        self.generator = Generator(programs / "cached-bench", scale.seconds)

    @cached_property
    def origin(self) -> Origin:
        return self._origin("images", self.scale.images, MEDIUM)

    @cached_property
    def small_origin(self) -> Origin:
        return self._origin("small", self.scale.small_images, SMALL)

    @cached_property
    def large_origin(self) -> Origin:
        return self._origin("large", self.scale.large_images, LARGE)

    def _origin(self, name: str, count: int, size: tuple[int, int]) -> Origin:
        progress(f"  writing {count:,} images")
        root = self.session.directory / "origin"
        root.mkdir(exist_ok=True)
        return Origin(root / name, count, size)

    @cached_property
    def nginx(self) -> Nginx:
        return Nginx(self.session)

    @cached_property
    def urls(self) -> list[str]:
        return self.origin.urls(self.nginx.base)

    @cached_property
    def secure_urls(self) -> list[str]:
        return self.origin.urls(self.nginx.secure_base)

    @cached_property
    def cached_urls(self) -> list[str]:
        """Every second URL, which is the half in the cache."""
        return self.urls[::2]

    @cached_property
    def url_file(self) -> Path:
        path = self.session.directory / "all.urls"
        path.write_text("".join(f"{url}\n" for url in self.urls))
        return path

    @cached_property
    def redis(self) -> Redis:
        return Redis(self.session, self.urls)

    @cached_property
    def aria2(self) -> Aria2:
        return Aria2(self.session)

    @cached_property
    def echo(self) -> Echo:
        return Echo(self.session, self.generator.program)

    @cached_property
    def daemon(self) -> Daemon:
        """A daemon that has every second image cached, which is checked."""
        daemon = Daemon(self.session, self.programs, "cached")
        progress(f"  filling the cache with {len(self.cached_urls):,} images")
        daemon.fetch(self.cached_urls)
        states = [item["state"] for item in daemon.status(self.urls)]
        if states != ["cached", "missing"] * (len(states) // 2):
            count = states.count("cached")
            raise Unavailable(f"{count} of {len(states)} URLs are cached, not every second")
        return daemon

    @cached_property
    def complete_daemon(self) -> Daemon:
        """A daemon that has every image cached."""
        daemon = Daemon(self.session, self.programs, "complete")
        progress(f"  filling the cache with {len(self.urls):,} images")
        daemon.fetch(self.urls)
        return daemon

    def target(self, name: str) -> Target:
        """The server with this name, with all URLs to request in turn."""
        match name:
            case "cached":
                return self.daemon.target(self.url_file)
            case "nginx":
                return self.nginx.target(self.session, self.scale.images)
            case "Redis":
                return self.redis.target(self.url_file)
            case "aria2 RPC":
                return self.aria2.target
            case _:
                return self.echo.target(self.url_file)
