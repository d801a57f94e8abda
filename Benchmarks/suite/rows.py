"""The rows of the table: the work measured, the peers, and the aims of the design."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from . import downloads, eviction, first, memory, peek, processes, revalidations, scan, sets, variants, verify
from .bench import Bench
from .contest import Contender, Measurement, Outcome, contest


@dataclass(frozen=True)
class Aim:
    """A limit for the ratio to a peer or, for the contender `cached`, for the value itself."""

    relation: str
    limit: float
    unit: str = "×"

    def __str__(self) -> str:
        return f"{self.relation} {self.limit:,g} {self.unit}"

    def is_met(self, value: float) -> bool:
        return value <= self.limit if self.relation == "≤" else value >= self.limit


@dataclass(frozen=True)
class Row:
    """One kind of work. `title` can use fields of the scale, such as `{images}`; values are in `unit`;
    `aims` are by contender."""

    name: str
    title: str
    unit: str
    aims: dict[str, Aim]
    measure: Callable[[Bench], dict[str, Outcome]]


def loads(
    names: list[str], connections: int, figure: str, scale: float
) -> Callable[[Bench], dict[str, Outcome]]:
    """One URL per request over this many connections, for each of `names`."""

    def measure(bench: Bench) -> dict[str, Outcome]:
        contenders = [loader(bench, name, connections, figure, scale) for name in names]
        return contest(contenders, bench.scale.rounds)

    return measure


def loader(
    bench: Bench, name: str, connections: int, figure: str, scale: float, urls_per_call: int = 1
) -> Contender:
    def prepare() -> Measurement:
        target = bench.target(name)
        return lambda: bench.generator.load(target, connections, urls_per_call)[figure] / scale

    return Contender(name, prepare)


def batches(bench: Bench) -> dict[str, Outcome]:
    """A thousand URLs per call on one connection; nginx, which has no batches, uses 32 connections."""
    contenders = [
        loader(bench, "cached", 1, "urlsPerSecond", 1e3, urls_per_call=1000),
        loader(bench, "nginx", 32, "urlsPerSecond", 1e3),
    ]
    return contest(contenders, bench.scale.rounds)


PEERS = ["cached", "nginx", "Redis", "NIO echo"]

ROWS = [
    Row("status-1", "Status, 1 connection, median round trip", "µs",
        {"nginx": Aim("≤", 1.1)},
        loads(PEERS, 1, "p50Microseconds", 1)),
    Row("status-32", "Status, 32 connections", "k/s",
        {"nginx": Aim("≥", 1), "aria2 RPC": Aim("≥", 2)},
        loads([*PEERS, "aria2 RPC"], 32, "requestsPerSecond", 1e3)),
    Row("status-1000-urls", "Status, 1,000 URLs a call", "k URLs/s",
        {"cached": Aim("≥", 1000, "k URLs/s"), "nginx": Aim("≥", 3)},
        batches),
    Row("peek-cached", "the state of a cached image, from the directory", "µs",
        {"system calls": Aim("≤", 1.15)},
        peek.measure("cached")),
    Row("peek-missing", "the state of a missing image, from the directory", "µs",
        {"system calls": Aim("≤", 1.15)},
        peek.measure("missing")),
    Row("first-picture", "the first image of a program that starts the daemon", "ms",
        {"cached": Aim("≤", 100, "ms")},
        first.measure(0)),
    Row("first-call", "the longest call of `libcached` until then", "ms",
        {"cached": Aim("≤", 2, "ms")},
        first.measure(1)),
    Row("process", "`cachectl status`, whole process", "ms",
        {"redis-cli GET": Aim("≤", 1)},
        processes.measure),
    Row("set-change", "one of 1,000 images in flight replaced, processor time of the daemon", "µs",
        {"cached": Aim("≤", 60, "µs")},
        sets.measure_change),
    Row("set-scroll", "a list of 60 visible and 200 prefetched cells scrolled at 60 Hz", "%",
        {"cached": Aim("≤", 1, "%")},
        sets.measure_scroll),
    Row("downloads", "{images:,} images of 22 kB from one origin, to `sync`", "s",
        {"curl -Z": Aim("≤", 1.2)},
        downloads.measure),
    Row("downloads-wide", "the same, with 64 connections on both sides", "s",
        {"curl -Z": Aim("≤", 1.2)},
        downloads.measure_wide),
    Row("downloads-http2", "{images:,} images of 22 kB by HTTP/2, to `sync`", "s",
        {"curl -Z": Aim("≤", 1.2)},
        downloads.measure_http2),
    Row("downloads-small", "{small_images:,} images of 2 kB, to `sync`", "s",
        {"curl -Z": Aim("≤", 1.5)},
        downloads.measure_small),
    Row("downloads-large", "{large_images:,} images of 5 MB, to `sync`", "s",
        {"curl -Z": Aim("≤", 1.2)},
        downloads.measure_large),
    Row("revalidations", "{images:,} cached images confirmed by their origin (304)", "s",
        {"curl -Z -z": Aim("≤", 1.1)},
        revalidations.measure),
    Row("derive", "256 pixels of a JPEG of 12 megapixels, processor time", "ms",
        {"cached": Aim("≤", 60, "ms"), "vipsthumbnail": Aim("≤", 1.2)},
        variants.measure_derive),
    Row("show-1000", "1,000 cells of 256 pixels decoded, processor time", "s",
        {"originals": Aim("≤", 0.1)},
        variants.measure_show),
    Row("idle-memory", "RssAnon when idle", "MB",
        {"cached": Aim("≤", 8, "MB")},
        memory.measure_idle),
    Row("memory-per-entry", "memory an entry, {entries:,} synthetic entries", "B",
        {"cached": Aim("≤", 72, "B")},
        memory.measure_entries("filled")),
    Row("memory-used", "the same, each used and not flushed to its file yet", "B",
        {"cached": Aim("≤", 72, "B")},
        memory.measure_entries("used")),
    Row("memory-flushed", "the same, all uses flushed to the files", "B",
        {"cached": Aim("≤", 72, "B")},
        memory.measure_entries("flushed")),
    Row("scan", "reading a directory of {victims:,} entries at the start, each", "µs",
        {"readdir": Aim("≤", 2)},
        scan.measure_cost),
    Row("scan-one-core", "the same on one processor", "µs",
        {"readdir": Aim("≤", 2)},
        scan.measure_cost_on_one_core),
    Row("scan-million", "reading a directory of {entries:,} entries at the start", "s",
        {"readdir": Aim("≤", 2)},
        scan.measure_million(is_cold=False)),
    Row("scan-million-cold", "the same with nothing of it in the kernel's memory", "s",
        {"readdir": Aim("≤", 2)},
        scan.measure_million(is_cold=True)),
    Row("scan-status", "Status, 32 connections, p99 during a scan", "ms",
        {"cached": Aim("≤", 10, "ms")},
        scan.measure_status),
    Row("evict", "evicting {victims:,} entries, each", "µs",
        {"unlinkat": Aim("≤", 1.3)},
        eviction.measure_cost(on_tmpfs=False)),
    Row("evict-tmpfs", "the same on tmpfs", "µs",
        {"unlinkat": Aim("≤", 1.3)},
        eviction.measure_cost(on_tmpfs=True)),
    Row("evict-status", "Status, 32 connections, p99 while {victims:,} entries are evicted and "
        "images downloaded", "ms",
        {"cached": Aim("≤", 10, "ms"), "before": Aim("≤", 3)},
        eviction.measure_status),
    Row("evict-downloads", "images published during an eviction", "/s",
        {"cached": Aim("≥", 1, "/s")},
        eviction.measure_downloads),
    Row("verify", "verifying {images:,} images of 22 kB", "GB/s",
        {"sha256sum": Aim("≥", 0.5)},
        verify.measure),
    Row("victims", "choosing a victim among {entries:,} entries, a tenth of them pinned", "ns",
        {"cached": Aim("≤", 1000, "ns")},
        eviction.measure_choice),
    Row("pressure", "a byte of memory pressure to the first unlink", "ms",
        {},
        eviction.measure_pressure(on_tmpfs=False)),
    Row("pressure-tmpfs", "the same on tmpfs", "ms",
        {},
        eviction.measure_pressure(on_tmpfs=True)),
]
