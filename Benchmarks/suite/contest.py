"""Interleaved rounds: what slows the machine for a while slows every contender.

What a contender leaves behind (pages, caches, a warm origin) is met by the one after it, so the order
changes such that each comes after each other equally often.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Callable

from .session import Unavailable, progress

Measurement = Callable[[], float]


@dataclass
class Contender:
    """One column of a row: `prepare` starts what it needs and gives the measurement of a round."""

    name: str
    prepare: Callable[[], Measurement]


@dataclass
class Outcome:
    """The median over all rounds, or the reason why there is none."""

    median: float | None = None
    reason: str = ""
    low: float = 0
    high: float = 0

    @staticmethod
    def of(values: list[float]) -> Outcome:
        return Outcome(statistics.median(values), low=min(values), high=max(values))

    @property
    def is_unsteady(self) -> bool:
        """Whether the rounds differ so much that their median means little."""
        return self.high > 1.5 * self.low


def contest(contenders: list[Contender], rounds: int) -> dict[str, Outcome]:
    """Measures all contenders once a round, in an order of its own."""
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
        figures = [f"{name} {values[name][-1]:,.1f}" for name in names if name not in outcomes]
        if figures:
            progress(f"  round {number + 1}: {', '.join(figures)}")
    for name in measurements:
        if name not in outcomes:
            outcomes[name] = Outcome.of(values[name])
    return {contender.name: outcomes[contender.name] for contender in contenders}


def ordered(names: list[str], number: int) -> list[str]:
    """Forwards, backwards, then the same beginning with the next: of three, all six orders."""
    turn = number // 2 % len(names) if names else 0
    order = names[turn:] + names[:turn]
    return order[::-1] if number % 2 else order


def attempt(name: str, outcomes: dict[str, Outcome], work: Callable[[], None]) -> None:
    """Does `work`; a contender that cannot do it is out, and the row says why."""
    try:
        work()
    except (Unavailable, OSError, ValueError) as error:
        progress(f"  {name}: {error}")
        outcomes[name] = Outcome(reason=str(error))
