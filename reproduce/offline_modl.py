"""Naive Bayes with MODL intervals: 100 quantile tuples in one pass beside MODL run offline on all the data.

    python -m reproduce.offline_modl

Offline means a summary with room for every distinct value, which is then exact. Hold-out of the last 30 % of shuffled
rows, mean over five shuffles, in percent.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bayou import GKClass, NaiveBayes, open_stream

DATA = Path(__file__).parents[2] / "shared" / "data"
SETS = {
    "credit-g": ("uci/credit-g.arff", {}),
    "segment": ("uci/segment.arff", {}),
    "spambase": ("tabular/spambase.arff.gz", {}),
    "letter": ("tabular/letter.arff.gz", {}),
    "adult": ("tabular/adult-train.csv.gz", {"target": "class"}),
    "phishing": ("streams/phishing.csv.gz", {"target": "is_phishing"}),
    "bananas": ("streams/banana.all.txt.gz", {}),
    "elec": ("streams/elecNormNew.arff.gz", {}),
}


def accuracies(path: str, options: dict[str, str]) -> tuple[float, float]:
    """Mean accuracy with 100 tuples, and with all values."""
    with open_stream(DATA / path, **options) as source:
        rows = source.read(10**6)
    columns = {name: column.to_pylist() for name, column in rows.columns.items()}
    records = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    labels = rows.labels.to_pylist()
    found = []
    for shuffle in range(5):
        order = np.random.default_rng(shuffle).permutation(len(labels)).tolist()
        cut = int(0.7 * len(order))
        pair = []
        for tuples in (100, 40_000):
            model = NaiveBayes(numeric=GKClass(tuples=tuples))
            model.learn_many([records[i] for i in order[:cut]], [labels[i] for i in order[:cut]])
            told = model.refresh().predict_many([records[i] for i in order[cut:]])
            pair.append(100 * np.mean([t == labels[i] for t, i in zip(told, order[cut:], strict=True)]))
        found.append(pair)
    one_pass, offline = np.mean(found, axis=0)
    return float(one_pass), float(offline)


if __name__ == "__main__":
    print("| set | 100 tuples, one pass | offline | difference |\n|---|---|---|---|")
    for name, (path, options) in SETS.items():
        ours, offline = accuracies(path, options)
        print(f"| {name} | {ours:.2f} | {offline:.2f} | {ours - offline:+.2f} |", flush=True)
