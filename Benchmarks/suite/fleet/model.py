"""A simulation of the machines, event by event, under the same load as the daemons.

It knows the rules of docs/understand/store.md and nothing else of the daemon: what a machine has, what the store has, and for how
long both are fresh.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from .load import Load


@dataclass
class Requests:
    wants: int = 0
    #: Wants that the machine itself answered.
    local: int = 0
    #: Questions to the store, with and without bytes.
    lookups: int = 0
    #: Those that brought an image, or confirmed one.
    hits: int = 0
    #: Downloads from the origin.
    downloads: int = 0
    #: Confirmations by the origin (304).
    confirmations: int = 0


@dataclass(frozen=True)
class Rules:
    #: Seconds for which an image is fresh.
    lifetime: float
    #: Entries that a machine holds. An eviction goes down to nine tenths.
    held: int
    hasStore: bool = True
    #: Seconds from a download to its object.
    delay: float = 0.1
    #: Seconds for which a confirmation by the origin has to hold to be written to the store.
    renewal: float = 3600


def simulate(load: Load, rules: Rules) -> Requests:
    machines: list[OrderedDict[int, float]] = [OrderedDict() for _ in range(load.machines)]
    #: For each image: since when the store has it, and until when it is fresh there.
    store: dict[int, tuple[float, float]] = {}
    counts = Requests()

    def looks_up(image: int, time: float) -> float | None:
        """Until when the object is fresh; `None` if there is none."""
        if not rules.hasStore:
            return None
        counts.lookups += 1
        since, fresh = store.get(image, (time + 1, 0.0))
        return fresh if since <= time else None

    def brings(image: int, time: float) -> float:
        """The origin brought an image, and the store learns of it."""
        fresh = time + rules.lifetime
        since = store.get(image, (time + rules.delay, 0.0))[0]
        store[image] = (min(since, time + rules.delay), fresh)
        return fresh

    for time, machine, image in load.wants():
        cache = machines[machine]
        counts.wants += 1
        fresh = cache.get(image)
        if fresh is not None and fresh > time:
            counts.local += 1
            cache.move_to_end(image)
            continue
        found = looks_up(image, time)
        if found is not None and found > time:
            counts.hits += 1
            fresh = found
        elif found is not None or fresh is not None:
            counts.hits += found is not None and fresh is None
            counts.confirmations += 1
            fresh = brings(image, time) if rules.lifetime >= rules.renewal else time + rules.lifetime
        else:
            counts.downloads += 1
            fresh = brings(image, time)
        cache[image] = fresh
        cache.move_to_end(image)
        if len(cache) > rules.held:
            while len(cache) > rules.held * 0.9:
                cache.popitem(last=False)
    return counts
