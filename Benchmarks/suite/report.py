"""The Markdown table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from .contest import Outcome

if TYPE_CHECKING:
    from .rows import Aim, Row

MARKERS = re.compile(r"(<!-- table -->\n).*?(<!-- /table -->)", re.DOTALL)


def header() -> list[str]:
    return [
        "| work | cached | peer | its figure | ratio | aim | |",
        "|---|---|---|---|---|---|---|",
    ]


def lines(row: Row, title: str, outcomes: dict[str, Outcome]) -> list[str]:
    """One line per peer; an aim for the value itself has its own line."""
    mine = outcomes["cached"]
    figure = text(mine, row.unit)
    table = []
    if "cached" in row.aims or len(outcomes) == 1:
        aim = row.aims.get("cached")
        table.append(line(title, figure, "–", "–", "–", aim, mine.median))
        title = figure = ""
    for name, outcome in outcomes.items():
        if name == "cached":
            continue
        ratio = mine.ratio(outcome)
        shown = f"{ratio:.2f} ×" if ratio is not None else "–"
        table.append(
            line(title, figure, name, text(outcome, row.unit), shown, row.aims.get(name), ratio))
        title = figure = ""
    return table


def line(
    title: str, figure: str, peer: str, theirs: str, ratio: str, aim: Aim | None,
    value: float | None
) -> str:
    result = ""
    if aim is not None:
        result = "not measured" if value is None else "met" if aim.is_met(value) else "**missed**"
    return f"| {title} | {figure} | {peer} | {theirs} | {ratio} | {aim or ''} | {result} |"


def text(outcome: Outcome, unit: str) -> str:
    """A figure, with its range if the rounds differ much, or the reason why there is none."""
    if outcome.median is None:
        return outcome.reason.replace("|", "\\|")
    rounds = f" ({number(outcome.low)}–{number(outcome.high)})" if outcome.is_unsteady else ""
    return f"{number(outcome.median)} {unit}{rounds}"


def number(value: float) -> str:
    """About three digits."""
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def write(path: Path, table: list[str]) -> None:
    """Replaces the text between the markers in `path`."""
    old = path.read_text()
    body = "\n".join(table)
    new, count = MARKERS.subn(lambda match: f"{match[1]}{body}\n{match[2]}", old)
    if count != 1:
        raise SystemExit(f"{path} has no table markers: <!-- table --> … <!-- /table -->")
    path.write_text(new)
