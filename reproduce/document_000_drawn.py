"""Document 000's first idea for later: GKClass summaries as mini-batches for the gradient, gone through several times.

    python -m reproduce.document_000_drawn [rows] [test rows]

Level 1 holds the margins of every column, class by class. So rows of a mini-batch can be drawn from it: a class by its
share, then every value on its own. This sets weights learned on such rows beside weights learned on the rows themselves
(`MiniBatch`), over the same tables. What was drawn has independent columns given the class: there naive Bayes is right,
all weights stay near 1, and the dependence that weights are for is lost. The rows themselves must be kept.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou import MiniBatch, NaiveBayes
from bayou.align import from_empty
from bayou.block import Block, Floats
from bayou.classifiers.sampling import blank_block
from bayou.streams.generators import ManyGaussians
from bayou.summaries.weights import Weights
from bayou.views.column_terms import COLUMN_VIEWS, column_edges, stacked

Data = tuple[Floats, NDArray[np.int64]]


def redundant(rows: int, seed: int) -> Data:
    """One good column, and a poor one five times over."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=rows)
    good, poor = rng.normal(1.6 * y, 1.0), rng.normal(1.2 * y, 1.0)
    copies = [poor + 0.05 * rng.normal(size=rows) for _ in range(5)]
    return np.column_stack([good, *copies]), y


def inputs(model: NaiveBayes, block: Block) -> tuple[Floats, Floats]:
    """Terms of every column and the log prior."""
    views = model.engine.views  # type: ignore[attr-defined] # the engine of naive Bayes has them
    prior = np.zeros((block.n, len(model.labels())))
    views["classes"].add_log_prob(block, prior)
    return stacked([views[name].column_terms(block) for name in COLUMN_VIEWS]), prior


def learned(model: NaiveBayes, block: Block, rate: MiniBatch) -> Weights:
    """Weights over the model's tables as they are, from the rows of a block."""
    weights = Weights(rate)
    weights.realign(from_empty(model.schema_))
    score(model, weights, block, block.y)
    return weights


def score(model: NaiveBayes, weights: Weights, block: Block, y: Any) -> Floats:
    """Weighted scores of rows; those with a label are learned after they are read."""
    terms, prior = inputs(model, block)
    everything = np.arange(terms.shape[1])
    no_units = np.zeros((block.n, 0))
    found: Floats = weights.learn(
        terms, no_units, prior, prior, column_edges(block), y, block.w, everything, 0
    )
    return found


def batches(train: Data, test: Data, rows: int = 100, passes: int = 5) -> dict[str, float]:
    """Accuracy on the test rows in points: naive Bayes, weights from rows, weights from rows drawn from level 1."""
    model = NaiveBayes(numeric="gk").fit(*train)
    block, asked = model.encode(train[0], train[1]), model.encode(test[0])
    drawn = blank_block(model.schema_, np.random.default_rng(0).permutation(block.y))
    model.engine.draw(drawn, np.random.default_rng(1))
    truth = np.searchsorted(model.labels(), test[1])
    nobody = np.full(asked.n, -1, dtype=np.int32)
    rate = MiniBatch(rows, passes)
    found = {"naive Bayes": score(model, learned(model, block.rows(0, 0), rate), asked, nobody)}
    found["rows"] = score(model, learned(model, block, rate), asked, nobody)
    found["drawn"] = score(model, learned(model, drawn, rate), asked, nobody)
    return {name: 100 * float(np.mean(scores.argmax(axis=1) == truth)) for name, scores in found.items()}


def main(arguments: list[str]) -> None:
    rows, test_rows = (int(arguments[i]) if len(arguments) > i else 20_000 for i in (0, 1))
    print("| stream | naive Bayes | mini-batches of rows | of rows drawn from GKClass |\n|---|---|---|---|")
    sets = {"one good column, five poor copies": (redundant(rows, 1), redundant(test_rows, 2))}
    for structure in ("independent", "blocks", "factor"):
        stream = ManyGaussians(100, structure=structure, seed=1)
        parts = []
        for wanted in (rows, test_rows):
            part = stream.read(wanted)
            values = np.column_stack([np.asarray(column) for column in part.columns.values()])
            parts.append((values, np.unique(np.asarray(part.labels), return_inverse=True)[1]))
        sets[f"{structure}, 100 columns"] = (parts[0], parts[1])
    for name, (train, test) in sets.items():
        print(
            f"| {name} | " + " | ".join(f"{x:.2f}" for x in batches(train, test).values()) + " |", flush=True
        )


if __name__ == "__main__":
    main(sys.argv[1:])
