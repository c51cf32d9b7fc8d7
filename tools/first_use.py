"""How long a stranger waits for the first prediction of an installed wheel: every classifier, every numeric recipe.

python tools/first_use.py dist/bayou-*-cp*.whl [--repeat 3] [--only TEXT] [--into FILE] [--jobs 2]

The wheel itself says which classifiers, recipes and bins there are. Each model learns 300 rows and predicts them in
processes of its own, as another user, in an environment that is read-only, with no kernel kept on disk. Prints a table
(processor seconds, then wall, the best of its processes, from before the import of bayou) and ends with an error where
a kernel was compiled or the limit was passed, which is one of processor time: two models are measured at once, and
`--jobs 1` gives the wall times of a machine that does nothing else. What stands in FILE is not measured again: it may
take several sittings.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from installed import Installed, installed

IMPORT_LIMIT, LIMIT = 0.5, 1.5  # processor seconds
PROGRAM = """
import time; began, worked = time.perf_counter(), time.process_time()
import bayou
imported, import_work = time.perf_counter() - began, time.process_time() - worked
from bayou.kernels.compiling import watch
model = {model}
compiler = watch()
if {words}:
    X = [dict(text=("free prize now", "see you at noon", "the minutes are attached")[i % 3]) for i in range(300)]
else:
    X = [dict(age=37 * i % 60, size=i * i % 11 / 7, town="xyz"[i % 3], free=i % 5 == 0) for i in range(300)]
    del X[7]["size"]
model.fit(X, ["a" if i % 3 == 0 else "b" if i % 4 else "c" for i in range(300)]).predict(X)
took, work = time.perf_counter() - began, time.process_time() - worked
import json
print(json.dumps(dict(
    imported=imported, import_work=import_work, took=took, work=work, compiled=compiler.kernels
)))
"""
OFFERED = """
import json, bayou
from bayou import BayouError, classifiers, ensembles
from bayou.classifiers.numeric import BINS, NUMERIC
from bayou.summaries.grid import NAMED

def can_be(model):
    try:
        return eval(model).law is not None
    except (BayouError, TypeError):  # it has no such parameter, or refuses the recipe
        return False

def offered():
    for module in (classifiers, ensembles):
        for name in module.__all__:
            words = getattr(bayou, name)().numbers_are_words
            for numeric in (*NUMERIC, *NAMED):
                inner = f"bayou.NaiveBayes(numeric={numeric!r})"
                forms = (
                    f"bayou.{name}(numeric={numeric!r})",
                    f"bayou.{name}(estimator={inner})",
                    f"bayou.{name}(estimators=[{inner}, bayou.MajorityClass()])",
                )
                yield from ((name, numeric, form, words) for form in forms if can_be(form))
            for bins in BINS:
                model = f"bayou.{name}(numeric='gk', bins={bins!r})"
                if can_be(model):
                    yield f"{name}, {bins}", "gk", model, words
            yield name, "default", f"bayou.{name}()", words

print(json.dumps(list(offered())))
"""


def measure(place: Installed, model: str, words: bool, repeat: int) -> dict[str, float]:
    """The least of each time over several processes, and the most kernels any of them compiled."""
    program = PROGRAM.format(model=model, words=words)
    runs = [json.loads(place.output("-P", "-c", program)) for _ in range(repeat)]
    best = {key: min(run[key] for run in runs) for key in runs[0]}
    return {**best, "compiled": max(run["compiled"] for run in runs)}


def table(found: dict[str, dict[str, dict[str, float]]]) -> Iterator[str]:
    """Classifiers down, numeric recipes across."""
    columns = ["default", *dict.fromkeys(c for recipes in found.values() for c in recipes if c != "default")]
    yield f"| classifier | {' | '.join(columns)} |"
    yield f"|---|{'---|' * len(columns)}"
    for name, recipes in found.items():
        cells = [
            f"{recipes[c]['work']:.2f} / {recipes[c]['took']:.2f}" if c in recipes else "" for c in columns
        ]
        yield f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    options = _arguments()
    known: dict[str, dict[str, float]] = {}
    if options.into is not None and options.into.exists():
        known = json.loads(options.into.read_text())
    found: dict[str, dict[str, dict[str, float]]] = {}
    with installed(options.wheel) as place:
        place.output("-P", "-c", PROGRAM.format(model="bayou.NaiveBayes()", words=False))  # files into memory
        offered = [one for one in json.loads(place.output("-P", "-c", OFFERED)) if options.only in one[2]]
        new = {model: words for *_, model, words in offered if model not in known}
        with ThreadPoolExecutor(options.jobs) as pool:
            results = pool.map(lambda model: measure(place, model, new[model], options.repeat), new)
            for model, got in zip(new, results, strict=True):
                known[model] = got
                print(f"{got['work']:.2f} s of processor, {got['took']:.2f} s: {model}", file=sys.stderr)
                if options.into is not None:
                    options.into.write_text(json.dumps(known, indent=1))
        for name, recipe, model, _ in offered:
            found.setdefault(name, {})[recipe] = known[model]
    print(*table(found), sep="\n")
    late = [f"{model}: {got}" for model, got in known.items() if is_late(got)]
    if late:
        sys.exit("\nOVER THE LIMIT:\n" + "\n".join(late))
    every = [cell for recipes in found.values() for cell in recipes.values()]
    most = {key: max(cell[key] for cell in every) for key in ("import_work", "imported", "work", "took")}
    print(
        f"\n{len(every)} models, none compiled a kernel. `import bayou`: at most "
        f"{most['import_work']:.3f} s of processor, {most['imported']:.3f} s. Until the prediction: at most "
        f"{most['work']:.2f} s of processor, {most['took']:.2f} s."
    )


def is_late(got: dict[str, float]) -> bool:
    """Whether a kernel was compiled, or a limit passed."""
    return bool(got["compiled"]) or got["work"] > LIMIT or got["import_work"] > IMPORT_LIMIT


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--into", type=Path)
    parser.add_argument("--jobs", type=int, default=2, help="models measured at the same time")
    return parser.parse_args()


if __name__ == "__main__":
    main()
