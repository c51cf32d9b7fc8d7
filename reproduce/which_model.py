"""Which model when: test-then-train accuracy and processor time of every classifier by its defaults, on named sets.

    python -m reproduce.which_model             measure what is not recorded yet, then write the tables
    python -m reproduce.which_model --tables    write the tables of what is recorded into docs/understand/models.md

Rows stand in the order of the file, at most the first 20,000 of a set; one thread; processor time of predicting and
learning together, reading the file included, the better of two runs. What was measured is kept in
`reproduce/results/which_model.json`.
"""

from __future__ import annotations

import datetime
import json
import sys
import time
from pathlib import Path
from typing import Any

import bayou
from bayou.evaluate import prequential
from bayou.streams import Source, open_stream
from bayou.threads import set_threads
from reproduce.sets import ALL, DATA

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "which_model.json"
PAGE = ROOT / "docs" / "understand" / "models.md"
BEGIN, END = "<!-- measured -->\n", "<!-- end of measured -->"
MOST = 20_000
SETS = {
    "elec": "8 mixed columns, 2 classes, drifts",
    "phishing": "9 numbers, 2 classes",
    "adult": "14 mixed columns, 2 classes",
    "nursery": "8 names, 5 classes, a sorted file",
    "letter": "16 numbers, 26 classes",
    "spambase": "57 numbers, 2 classes, a file sorted by class",
}
MODELS = (
    "NoChange() MajorityClass() NaiveBayes() NaiveBayes('gaussian') WeightedNB() AveragedNB() EcocNB() TAN() FAN() "
    "SuperParent() AODE() FANC() SPCr() TC() ReadMany() HoeffdingTree() CountForest() Bagging() WeightedVoting() "
    "Pool() AWE() ResetOnDrift() Fading(half_life=1000) Window(rows=1000)"
).split()


def opened(name: str) -> Source:
    path, options = ALL[name]
    return open_stream(DATA / path, **options)


def measure(name: str, model: str) -> dict[str, float]:
    """Accuracy, microseconds of one core per row, and bytes of state at the end."""
    offered = {m: getattr(bayou, m) for m in bayou.__all__}
    times = []
    for _ in range(2):  # the first run also loads or compiles kernels
        learner = eval(model, offered)
        with opened(name) as stream:
            begun = time.process_time()
            found = prequential(learner, stream, rows=MOST)
            times.append(time.process_time() - begun)
    plain = found.results[next(iter(found.results))]
    return {
        "accuracy": round(100 * plain.accuracy, 2),
        "us": round(1e6 * min(times) / found.rows, 1),
        "bytes": learner.memory_bytes,
        "rows": found.rows,
    }


def tables(kept: dict[str, Any]) -> str:
    """Accuracy by set, then processor time and size."""
    names = list(SETS)
    lines = [
        f"{', '.join(f'*{name}*: {about}' for name, about in SETS.items())}. Measured {kept['date']}.",
        "",
    ]
    lines += [
        "| model | " + " | ".join(names) + " | mean |",
        "|---|" + "---|" * (len(names) + 1),
    ]
    for model in MODELS:
        found = [kept.get(f"{name} {model}") for name in names]
        cells = [f"{cell['accuracy']:.1f}" if cell else "" for cell in found]
        mean = f"{sum(cell['accuracy'] for cell in found if cell) / len(found):.1f}" if all(found) else ""
        lines.append(f"| `{model}` | " + " | ".join(cells) + f" | {mean} |")
    lines += ["", "Processor time in µs per row, and the size of the model in the end:", ""]
    lines += ["| model | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for model in MODELS:
        found = [kept.get(f"{name} {model}") for name in names]
        cells = [f"{cell['us']:.0f} µs, {_size(cell['bytes'])}" if cell else "" for cell in found]
        lines.append(f"| `{model}` | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def _size(n: float) -> str:
    return f"{n / 1e6:.1f} MB" if n >= 1e6 else f"{n / 1e3:.0f} kB"


def main() -> None:
    set_threads(1)
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if "--tables" not in sys.argv:
        for name in SETS:
            for model in MODELS:
                if f"{name} {model}" not in kept:
                    kept[f"{name} {model}"] = measure(name, model)
                    kept["date"] = str(datetime.date.today())
                    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
                    print(name, model, kept[f"{name} {model}"], flush=True)
    text = PAGE.read_text()
    PAGE.write_text(text[: text.index(BEGIN) + len(BEGIN)] + tables(kept) + text[text.index(END) :])


if __name__ == "__main__":
    main()
