"""What the programs of all machines want, and when: popular images more often than others."""

from __future__ import annotations

import bisect
import itertools
import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Load:
    machines: int
    #: Wants a second of each machine.
    rate: float
    seconds: float
    #: Different images. The popularity of the n-th one is n to the power of -alpha (Zipf).
    catalogue: int
    alpha: float
    seed: int

    def wants(self) -> list[tuple[float, int, int]]:
        """The second, the machine and the image of each want, in order of time."""
        chance = random.Random(self.seed)
        weights = itertools.accumulate((rank + 1) ** -self.alpha for rank in range(self.catalogue))
        steps = list(weights)
        wants = []
        time = 0.0
        while True:
            time += chance.expovariate(self.machines * self.rate)
            if time >= self.seconds:
                return wants
            image = bisect.bisect(steps, chance.random() * steps[-1])
            wants.append((time, chance.randrange(self.machines), min(image, self.catalogue - 1)))
