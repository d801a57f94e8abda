"""Interleaved rounds, so that a temporary slowdown of the machine affects every contender.

A contender leaves things behind (pages, caches, a warm origin) for the next one. So the order changes from
round to round, and none always follows the same other one.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import Callable

from .session import Unavailable, progress

Measurement = Callable[[], float]


@dataclass
class Contender:
    """One column of a row: `prepare` starts the servers and returns the measurement of a round."""

    name: str
    prepare: Callable[[], Measurement]


@dataclass
class Outcome:
    """The result of each round, or the reason why there is none."""

    values: list[float] = field(default_factory=list)
    reason: str = ""

    @property
    def median(self) -> float | None:
        return statistics.median(self.values) if self.values else None

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)

    @property
    def is_unsteady(self) -> bool:
        """Whether the rounds differ so much that the median means little."""
        return self.high > 1.5 * self.low

    def ratio(self, peer: Outcome) -> float | None:
        """The median of the ratios of each round. If the machine's speed changes during the run, the two
        medians can be from different times."""
        if len(self.values) != len(peer.values) or not self.values or min(peer.values) <= 0:
            return None
        return statistics.median(a / b for a, b in zip(self.values, peer.values))


def contest(contenders: list[Contender], rounds: int) -> dict[str, Outcome]:
    """Measures all contenders once per round, in changing order."""
    outcomes: dict[str, Outcome] = {}
    measurements: dict[str, Measurement] = {}
    values: dict[str, list[float]] = {}
    for contender in contenders:
        attempt(contender.name, outcomes, lambda: measurements.update(
            {contender.name: contender.prepare()}))
    for number in range(rounds):
        names = [name for name in measurements if name not in outcomes]
        for name in ordered(names, number):
            attempt(name, outcomes, lambda: values.setdefault(name, []).append(
                measurements[name]()))
        figures = [f"{name} {values[name][-1]:,.2f}" for name in names if name not in outcomes]
        if figures:
            progress(f"  round {number + 1}: {', '.join(figures)}")
    for name in measurements:
        if name not in outcomes:
            outcomes[name] = Outcome(values[name])
    return {contender.name: outcomes[contender.name] for contender in contenders}


def ordered(names: list[str], number: int) -> list[str]:
    """Forwards and backwards, then again starting with the next one: for three, all six orders."""
    turn = number // 2 % len(names) if names else 0
    order = names[turn:] + names[:turn]
    return order[::-1] if number % 2 else order


def attempt(name: str, outcomes: dict[str, Outcome], work: Callable[[], None]) -> None:
    """Does `work`; a contender that fails is out, and its row shows the reason."""
    try:
        work()
    except (Unavailable, OSError, ValueError) as error:
        progress(f"  {name}: {error}")
        outcomes[name] = Outcome(reason=str(error))
