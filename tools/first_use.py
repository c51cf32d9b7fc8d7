"""How long a stranger waits for the first prediction of an installed wheel: every classifier, every numeric recipe.

python tools/first_use.py dist/bayou-*-cp*.whl [--repeat 3] [--only TEXT]

Each model learns 300 rows and predicts them in processes of its own, as another user, in an environment that is
read-only, with no kernel kept on disk. Prints a table (processor seconds, then wall, the best of its processes, from
before the import of bayou) and stops where a kernel is compiled or the limit is passed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from installed import Installed, installed

IMPORT_LIMIT, LIMIT = 0.5, 1.5  # processor seconds
DENSITIES = ("auto", "gaussian", "gk", "pid", "cpid", "kernel", "rounded-normal")
GRIDS = ("frequency", "width")
BINS = ("equal-width", "equal-frequency", "fayyad-irani", "k-means")
WORDS = ("MultinomialNB", "ComplementNB", "BernoulliNB")
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
CLASSES = """
import inspect, json
from bayou import classifiers, ensembles
print(json.dumps({name: list(inspect.signature(getattr(module, name).__init__).parameters)
    for module in (classifiers, ensembles) for name in module.__all__}))
"""


def models(parameters: dict[str, list[str]]) -> Iterator[tuple[str, str, str]]:
    """Every exported classifier with every numeric recipe it takes: name, recipe, the expression that makes it."""
    for name, taken in parameters.items():
        if name == "HoeffdingTree":
            for numeric in ("gaussian", "gk", "pid", "cpid"):
                yield name, numeric, f"bayou.HoeffdingTree(numeric={numeric!r})"
        elif "bins" in taken:
            yield from ((name, numeric, f"bayou.{name}(numeric={numeric!r})") for numeric in DENSITIES)
            for bins in BINS:
                yield f"{name}, {bins}", "gk", f"bayou.{name}(numeric='gk', bins={bins!r})"
        elif "numeric" in taken:
            yield from ((name, numeric, f"bayou.{name}(numeric={numeric!r})") for numeric in GRIDS)
        elif "estimator" in taken or "estimators" in taken:
            yield name, "default", f"bayou.{name}()"
            many = "estimators" in taken
            for numeric in DENSITIES:
                inner = f"bayou.NaiveBayes(numeric={numeric!r})"
                yield (
                    name,
                    numeric,
                    f"bayou.{name}([{inner}, bayou.MajorityClass()])" if many else f"bayou.{name}({inner})",
                )
        else:
            yield name, "default", f"bayou.{name}()"


def measure(place: Installed, name: str, model: str, repeat: int) -> dict[str, float]:
    """The least of each time over several processes, and the most kernels any of them compiled."""
    runs = []
    for _ in range(repeat):
        runs.append(json.loads(place.output("-P", "-c", PROGRAM.format(model=model, words=name in WORDS))))
    best = {key: min(run[key] for run in runs) for key in runs[0]}
    return {**best, "compiled": max(run["compiled"] for run in runs)}


def table(found: dict[str, dict[str, dict[str, float]]]) -> Iterator[str]:
    """Classifiers down, numeric recipes across."""
    columns = [c for c in ("default", *DENSITIES, *GRIDS) if any(c in recipes for recipes in found.values())]
    yield f"| classifier | {' | '.join(columns)} |"
    yield f"|---|{'---|' * len(columns)}"
    for name, recipes in found.items():
        cells = [
            f"{recipes[c]['work']:.2f} / {recipes[c]['took']:.2f}" if c in recipes else "" for c in columns
        ]
        yield f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    told = _arguments()
    found: dict[str, dict[str, dict[str, float]]] = {}
    late = []
    with installed(told.wheel) as place:
        parameters = json.loads(place.output("-P", "-c", CLASSES))
        place.output("-P", "-c", PROGRAM.format(model="bayou.NaiveBayes()", words=False))  # files into memory
        for name, recipe, model in models(parameters):
            if told.only in model:
                got = measure(place, name, model, told.repeat)
                found.setdefault(name, {})[recipe] = got
                print(f"{got['work']:.2f} s of processor, {got['took']:.2f} s: {model}", file=sys.stderr)
                if got["compiled"] or got["work"] > LIMIT or got["import_work"] > IMPORT_LIMIT:
                    late.append(f"{model}: {got}")
    print(*table(found), sep="\n")
    if late:
        sys.exit("\nOVER THE LIMIT:\n" + "\n".join(late))
    every = [cell for recipes in found.values() for cell in recipes.values()]
    most = {key: max(cell[key] for cell in every) for key in ("import_work", "imported", "work", "took")}
    print(
        f"\n{len(every)} models, none compiled a kernel. `import bayou`: at most "
        f"{most['import_work']:.3f} s of processor, {most['imported']:.3f} s. Until the prediction: at most "
        f"{most['work']:.2f} s of processor, {most['took']:.2f} s."
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="")
    return parser.parse_args()


if __name__ == "__main__":
    main()
