"""Accuracy on the real sets beside the peers': streams prequentially, tables held out, the others by cross-validation.

    python -m reproduce.accuracy > docs/accuracy.md

Peers' numbers are quoted from one measurement with their defaults: MOA through CapyMOA 0.15.1, Weka 3.6.14,
scikit-learn 1.8, Khiops 11.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

from bayou import (
    BernoulliNB,
    ComplementNB,
    MultinomialNB,
    NaiveBayes,
    cross_validate,
    holdout,
    open_stream,
    prequential,
)
from reproduce.sets import load

DATA = Path(__file__).parents[2] / "shared" / "data"
COVTYPE = ["Wilderness_Area", "Soil_Type"]

STREAMS = {  # file, options, MOA NB, no-change
    "elec": ("streams/elecNormNew.arff.gz", {}, 73.36, 85.33),
    "covtype": ("streams/covtype.csv.gz", {"target": "Cover_Type"}, 60.52, 95.06),
    "phishing": ("streams/phishing.csv.gz", {"target": "is_phishing"}, 88.40, 51.52),
    "bananas": ("streams/banana.all.txt.gz", {}, 61.53, 50.94),
}
UCI = {  # Weka NB, Weka NB with Fayyad-Irani
    "anneal": (86.56, 95.77),
    "breast-cancer": (73.12, 73.12),
    "credit-a": (77.97, 85.51),
    "credit-g": (75.07, 74.93),
    "diabetes": (75.78, 74.65),
    "glass": (46.93, 70.40),
    "heart-c": (83.18, 83.30),
    "hepatitis": (83.87, 84.79),
    "iris": (96.00, 92.89),
    "kr-vs-kp": (87.80, 87.80),
    "labor": (92.44, 87.78),
    "segment": (80.19, 91.20),
    "soybean": (92.87, 92.87),
    "vote": (90.11, 90.11),
}
TABULAR = {  # GaussianNB, 10 quantile bins + CategoricalNB, Khiops offline: accuracy (log-loss)
    "adult": ("79.58 (.972)", "81.23 (.484)", "86.84 (.283)"),
    "letter": ("64.82 (1.626)", "71.12 (1.245)", "75.18 (.882)"),
    "spambase": ("81.03 (5.07)", "89.72 (.495)", "93.77 (.187)"),
    "mushroom": ("97.74 (.305)", "95.61 (.149)", "99.92 (.010)"),
    "nursery": ("84.34 (2.49)", "89.99 (.266)", "89.69 (.265)"),
    "covtype": ("70.14 (3.36)", "75.06 (.635)", "78.06 (.501)"),
}


def ways() -> dict[str, NaiveBayes]:
    """Naive Bayes as it is by default, and the two ways of reading numeric columns it chooses from."""
    return {"auto": NaiveBayes(), "gaussian": NaiveBayes("gaussian"), "modl": NaiveBayes("gk")}


def stream_table() -> list[str]:
    lines = [
        "| stream | NaiveBayes() | Gaussian | GKClass + MODL | MOA NB | no-change |",
        "|---|---|---|---|---|---|",
    ]
    for name, (path, options, moa, no_change) in STREAMS.items():
        options = dict(options)
        if name == "covtype":
            with open_stream(DATA / path, **options) as probe:
                options["nominal"] = [c for c in probe.columns if c.startswith(tuple(COVTYPE))]
        with open_stream(DATA / path, **options) as source:
            models = ways()
            result = prequential(models, source)
        scores = " | ".join(f"{100 * result[m].scores.accuracy:.2f}" for m in models)
        lines.append(f"| {name} | {scores} | {moa:.2f} | {no_change:.2f} |")
    return lines


def uci_table() -> list[str]:
    lines = [
        "| set | NaiveBayes() | Gaussian | GKClass + MODL | Weka NB | Weka NB, Fayyad-Irani |",
        "|---|---|---|---|---|---|",
    ]
    for name, (weka, discretised) in UCI.items():
        with open_stream(DATA / "uci" / f"{name}.arff") as source:
            folds = cross_validate(ways(), source, repeats=3)
        ours = " | ".join(f"{100 * folds.mean(m):.2f}" for m in ways())
        lines.append(f"| {name} | {ours} | {weka:.2f} | {discretised:.2f} |")
    return lines


def text_table() -> list[str]:
    lines = [
        "| set | MultinomialNB | ComplementNB | BernoulliNB | scikit-learn (same three) |",
        "|---|---|---|---|---|",
    ]
    peers = {"oh0": "90.23 / 91.92 / -", "re0": "80.19 / 82.58 / -", "SMS spam": "98.62 / 98.01 / 97.90"}
    files = {"oh0": "oh0.wc.arff.gz", "re0": "re0.wc.arff.gz", "SMS spam": "SMSSpamCollection.tsv.gz"}
    for name, file in files.items():
        options = {"format": "text"} if name == "SMS spam" else {}
        with open_stream(DATA / "text" / file, **options) as source:
            models = {"m": MultinomialNB(), "c": ComplementNB(), "b": BernoulliNB()}
            folds = cross_validate(models, source)
        ours = " | ".join(f"{100 * folds.mean(m):.2f}" for m in models)
        lines.append(f"| {name} | {ours} | {peers[name]} |")
    return lines


def tabular_table() -> list[str]:
    lines = [
        "| set | NaiveBayes() | Gaussian | GKClass + MODL | GaussianNB | 10 quantile bins + CategoricalNB "
        "| Khiops, offline |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, peers in TABULAR.items():
        models = ways()
        if name == "adult":
            paths = [DATA / "tabular" / f"adult-{part}.csv.gz" for part in ("train", "test")]
            with (
                open_stream(paths[0], target="class") as train,
                open_stream(paths[1], target="class") as test,
            ):
                result = holdout(models, train, test)
        else:
            data = load(name, 200_000 if name == "covtype" else None)
            order = np.random.default_rng(0).permutation(len(data))
            parts = [data.take(part) for part in np.split(order, [round(0.7 * len(data))])]
            pairs = [({c: _told(c, v) for c, v in part.columns.items()}, part.labels) for part in parts]
            result = holdout(models, *pairs)
        found = [result[m].scores for m in models]
        ours = " | ".join(f"{100 * scores.accuracy:.2f} ({scores.log_loss:.3f})" for scores in found)
        lines.append(f"| {name} | {ours} | {' | '.join(peers)} |")
    return lines


def _told(column: str, values: pa.Array) -> pa.Array:
    return values.cast(pa.string()) if column.startswith(tuple(COVTYPE)) else values


def main() -> None:
    print(
        "# Accuracy on real sets\n\nMade by `python -m reproduce.accuracy`; in percent. Peers' numbers are quoted.\n"
    )
    for title, table in (
        ("Streams, prequential, file order", stream_table),
        ("UCI, 3 x 10-fold", uci_table),
        ("Text, 10-fold", text_table),
        (
            "Tables, 30 % held out (adult: its own split; covtype: first 200,000 rows), accuracy (log-loss)",
            tabular_table,
        ),
    ):
        print(f"## {title}\n", *table(), "", sep="\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
