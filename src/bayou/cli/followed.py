"""A sentence on the candidates that `auto` uses, for every command that trains it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

LEAST = 0.05  # share of a candidate that is worth a mention
BASELINES = ("NoChange", "MajorityClass")  # they are always evaluated


def tell_choice(models: Mapping[str, Any], named: bool, tell: Callable[[str], None]) -> None:
    """Tell which model was used by default, and which candidates every `auto` uses."""
    from bayou.inspection.followed import candidates_of

    if not named:
        others = "`bayou models` lists others, --model names them"
        used = ", ".join(name for name, model in models.items() if type(model).__name__ not in BASELINES)
        tell(f"No model was named, so {used} was used; {others}.")
    for name, model in models.items():
        if candidates_of(model):
            tell(f"{name} {candidates_text(model)}.")


def candidates_text(model: Any) -> str:
    """The candidates that a model uses at present with their shares, as text."""
    from bayou.report.numbers import share

    shares = {name: part for name, part in model.shares_.items() if part >= LEAST}
    dropped = [name for name, record in model.record_.items() if not record["followed"]]
    left = f"; dropped for its cost: {', '.join(dropped)}" if dropped else ""
    return "follows " + ", ".join(f"{name} ({share(part)})" for name, part in shares.items()) + left
