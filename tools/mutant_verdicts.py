"""What is known of mutants: kept while a run goes on, and shown as a score with its interval."""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any


def kept(path: Path) -> dict[str, Any]:
    """What was found so far: `tests` by name, `verdicts` by mutant, `drawn` mutants and their number by package."""
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return {"tests": {}, "verdicts": {}, "mutants": {}, "drawn": {}, **found}


def keep(path: Path, **news: Any) -> None:
    """Write what was found so far, all or nothing."""
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(kept(path) | news))
    draft.replace(path)


def interval(killed: int, judged: int) -> tuple[float, float]:
    """Wilson's interval of 95 % for a share, in percent."""
    if judged == 0:
        return 0.0, 100.0
    z = 1.96
    share, spread = killed / judged, z * z / judged
    middle, reach = share + spread / 2, z * math.sqrt(share * (1 - share) / judged + spread / judged / 4)
    return 100 * (middle - reach) / (1 + spread), 100 * (middle + reach) / (1 + spread)


def show(options: argparse.Namespace) -> None:
    """The score of each package, then survivors and what no test calls."""
    found = kept(options.into)
    equivalent = json.loads(options.equivalent.read_text()) if options.equivalent else {}
    for package, number in found["mutants"].items():
        judged = {key: found["verdicts"][key] for key in found["drawn"][package] if key in found["verdicts"]}
        tally = Counter(
            "equivalent" if key in equivalent and "killed" not in said else said.split(":")[0]
            for key, said in judged.items()
        )
        killed, alive = tally["killed"], len(judged) - tally["equivalent"]
        low, high = interval(killed, alive)
        score = f"{100 * killed / max(alive, 1):.0f} % killed (95 %: {low:.0f} to {high:.0f})"
        print(f"{package}: {len(judged)} of {number} mutants, {dict(tally)}, {score}")
    for key, said in sorted(found["verdicts"].items()):
        if not said.startswith("killed"):
            print(f"{'equivalent' if key in equivalent else said}: {key}")
