"""Section 4 of "Voting massive collections of Bayesian network classifiers for data streams" (Bouckaert, 2006).

    python -m reproduce.document_002 --rows 10000000           figures 1 to 3, noise, gaps, memory and times

Every classifier is read off one set of triple counts: one pass over the rows serves all of them.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bayou.align import whole
from bayou.block import Block, Floats
from bayou.readings.aode import OneDependence
from bayou.readings.chosen_parent import Choice, score
from bayou.readings.collection import add_terms
from bayou.readings.parent_sets import Forests, NoParents, SuperParents, Terms, TwoParents
from bayou.readings.prior import CountedPrior
from bayou.readings.structure import SpanningTree
from bayou.schema import Declared, Schema
from bayou.streams.generators.drawn import CHUNK
from bayou.streams.generators.networks import RandomNetwork
from bayou.summaries.candidate_record import CandidateRecord
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.joint_counts import JointCounts

HOLD_OUT = 10_000
APART = 1 << 40  # chunk numbers of the hold-out rows: never reached by the training rows
NAMES = ("NB", "TAN", "AODE", "FANC", "SPC", "SPCr", "TC")


class Bench:
    """One pass of counts over a source, and all classifiers read off it."""

    def __init__(self, source: RandomNetwork) -> None:
        self.source, m = source, len(source.columns)
        values = list(next(iter(source.columns.values())).values or ())
        schema = Schema(Declared(columns=dict.fromkeys(source.columns, values), classes=list(source.classes)))
        self.classes, self.counts, self.record = ClassCounts(), JointCounts(3), CandidateRecord()
        for summary in (self.classes, self.counts, self.record):
            summary.realign(whole(schema))
        self.choice = Choice(SuperParents, False, 1.0, 1.0, 1)
        self.held = self.block(range(APART, APART + HOLD_OUT // CHUNK + 1)).rows(0, HOLD_OUT)
        self.columns = m

    def block(self, chunks: Iterable[int]) -> Block:
        parts = [self.source.codes(number) for number in chunks]
        codes, y = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Block(np.zeros((len(y), 0)), codes, (), y, np.ones(len(y)))

    def learn(self, block: Block) -> None:
        """Count; the first 50 rows are predicted before, for the record of super parents."""
        score(self.counts, self.record, self.choice, block.rows(0, min(50, block.n)), 0.0, 0.0)
        self.classes.update(block)
        self.counts.update(block)

    def predict(self, name: str, block: Block) -> Floats:
        out = np.zeros((block.n, len(self.source.classes)))
        counts = self.counts
        if name == "AODE":
            OneDependence().add_log_prob(counts, block, out)
            return out
        CountedPrior(1.0).add_log_prob(self.classes, block, out)
        chosen = self.choice.best(self.record.record, counts.reading_order)
        rules = {"NB": NoParents(), "FANC": Forests(), "TC": TwoParents(), "SPC": SuperParents()}
        rules["SPCr"] = SuperParents(chosen)
        if name == "TAN":
            add_terms(counts, SpanningTree().search(counts), 1.0, block.codes, out)
        else:
            terms = Terms.of(rules[name].terms(counts.reading_order), self.columns)
            add_terms(counts, terms, 1.0, block.codes, out)
        return out

    def accuracy(self, name: str) -> float:
        return float(np.mean(self.predict(name, self.held).argmax(axis=1) == self.held.y))


def points(rows: int, number: int = 100) -> list[int]:
    """Log-spaced row counts, from 10 on."""
    return sorted({round(float(x)) for x in np.geomspace(10, rows, number)})


def learning_curve(source: RandomNetwork, rows: int) -> dict[str, Any]:
    """Accuracy of every classifier on the hold-out rows, at log-spaced numbers of training rows."""
    bench, curve, at = Bench(source), {name: [] for name in NAMES}, 0
    start = time.perf_counter()
    for stop in points(rows):
        while at < stop:
            first, offset = divmod(at, CHUNK)
            upto = min(stop, (first + 64) * CHUNK)
            block = bench.block(range(first, -(-upto // CHUNK)))
            bench.learn(block.rows(offset, upto - first * CHUNK))
            at = upto
        for name in NAMES:
            curve[name].append(bench.accuracy(name))
    return {
        "points": points(rows),
        "accuracy": curve,
        "bayes": source.bayes_accuracy,
        "super_parent": bench.choice.best(bench.record.record, bench.counts.reading_order),
        "seconds": time.perf_counter() - start,
    }


SOURCES: Mapping[str, Mapping[str, Any]] = {
    "nb": {"graph": "nb"},
    "tan": {"graph": "tan"},
    "ban": {"graph": "ban"},
    **{f"{g} + 10 noise attributes": {"graph": g, "noise_attributes": 10} for g in ("nb", "tan", "ban")},
    **{f"{g}, 5 % noise": {"graph": g, "noise": 0.05} for g in ("nb", "tan", "ban")},
    **{f"{g}, 5 % missing": {"graph": g, "missing": 0.05} for g in ("nb", "tan", "ban")},
}


def costs() -> list[dict[str, Any]]:
    """Bytes of counts, nanoseconds per row to learn and to predict, at 19 binary attributes."""
    bench = Bench(RandomNetwork("tan"))
    block = bench.block(range(16))
    bench.learn(block)
    out = []
    for name in NAMES:
        order = 3 if name in ("SPC", "SPCr", "TC") else 2
        counts = JointCounts(order)
        schema = Schema(
            Declared(columns={name: ["v0", "v1"] for name in bench.source.columns}, classes=["c0", "c1"])
        )
        counts.realign(whole(schema))
        counts.update(block)
        start = time.perf_counter()
        counts.update(block)
        learned = time.perf_counter() - start
        bench.predict(name, block)
        start = time.perf_counter()
        bench.predict(name, block)
        predicted = time.perf_counter() - start
        size = sum(
            a.nbytes for a in (counts.classes, counts.singles, counts.present, counts.pairs, counts.triples)
        )
        out.append(
            {
                "name": name,
                "bytes": size,
                "learn_ns": 1e9 * learned / block.n,
                "predict_ns": 1e9 * predicted / block.n,
            }
        )
    return out


def table(results: Mapping[str, Any], rows: int) -> str:
    """Final accuracies, one line per source."""
    lines = [
        f"| source, {rows:,} rows | Bayes | " + " | ".join(NAMES) + " |",
        "|---" * (len(NAMES) + 2) + "|",
    ]
    for source, result in results.items():
        bayes = "" if result["bayes"] is None else f"{100 * result['bayes']:.2f}"
        cells = " | ".join(f"{100 * result['accuracy'][name][-1]:.2f}" for name in NAMES)
        lines.append(f"| {source} | {bayes} | {cells} |")
    return "\n".join(lines)


def plot(results: Mapping[str, Any], path: Path) -> None:
    """Figures 1 and 2 (all rows, and the first hundred thousand) and 3 (what ten noise attributes cost)."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(3, 3, figsize=(13, 11))
    for column, graph in enumerate(("nb", "tan", "ban")):
        plain, noisy = results[graph], results[f"{graph} + 10 noise attributes"]
        for name in NAMES:
            accuracy = np.array(plain["accuracy"][name])
            axes[0, column].plot(plain["points"], accuracy, label=name)
            early = np.array(plain["points"]) <= 100_000
            axes[1, column].plot(np.array(plain["points"])[early], accuracy[early])
            axes[2, column].plot(plain["points"], accuracy - np.array(noisy["accuracy"][name]))
        axes[0, column].set_title(f"source {graph}")
        for line in axes[:2, column]:
            line.axhline(plain["bayes"], color="grey", linestyle=":")
        for line in axes[:, column]:
            line.set_xscale("log")
    for line, label in enumerate(("accuracy", "accuracy, first 100,000", "lost to ten noise attributes")):
        axes[line, 0].set_ylabel(label)
    axes[0, 0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--sources", default="all", help="names separated by ';', or all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("reproduce/results/document_002"))
    told = parser.parse_args()
    names = list(SOURCES) if told.sources == "all" else told.sources.split(";")
    told.out.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = {}
    for name in names:
        results[name] = learning_curve(RandomNetwork(seed=told.seed, **SOURCES[name]), told.rows)
        print(f"{name}: {results[name]['seconds']:.0f} s", flush=True)
        (told.out / f"curves_{told.seed}.json").write_text(json.dumps(results))
        (told.out / f"table_{told.seed}.md").write_text(table(results, told.rows) + "\n")
    print(table(results, told.rows))
    (told.out / "costs.json").write_text(json.dumps(costs(), indent=1))
    if len(names) == len(SOURCES):
        plot(results, told.out / f"figures_{told.seed}.png")


if __name__ == "__main__":
    main()
