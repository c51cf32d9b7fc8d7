"""What `auto` follows, in a sentence: told wherever it is used, also where nobody named a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

LEAST = 0.05  # a share that is worth a word
BASELINES = ("NoChange", "MajorityClass")  # they run along unasked


def tell_choice(models: Mapping[str, Any], named: bool, tell: Callable[[str], None]) -> None:
    """Say what was used in place of a model nobody named, and whom every `auto` follows."""
    from bayou.inspection.followed import candidates_of

    if not named:
        others = "`bayou models` lists others, --model names them"
        used = ", ".join(name for name, model in models.items() if type(model).__name__ not in BASELINES)
        tell(f"No model was named, so {used} was used; {others}.")
    for name, model in models.items():
        if candidates_of(model):
            tell(f"{name} {in_words(model)}.")


def in_words(model: Any) -> str:
    """Whom a model that follows candidates follows at present."""
    from bayou.report.numbers import share

    shares = {name: part for name, part in model.shares_.items() if part >= LEAST}
    dropped = [name for name, told in model.record_.items() if not told["followed"]]
    left = f"; dropped for its cost: {', '.join(dropped)}" if dropped else ""
    return "follows " + ", ".join(f"{name} ({share(part)})" for name, part in shares.items()) + left
