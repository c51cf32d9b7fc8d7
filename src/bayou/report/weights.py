"""The weights a weighted naive Bayes gives its attributes."""

from __future__ import annotations

import numpy as np

from bayou.align import canonical_order
from bayou.block import Floats
from bayou.engines.averaged import AveragedViews
from bayou.engines.weighted import WeightedViews
from bayou.inspection.model_contents import ModelContents
from bayou.plain_text import shortened
from bayou.report.drawing import bars, figure
from bayou.report.markup import Safe, fold, join, tag
from bayou.report.tables import Cell, table
from bayou.schema import Kind


def weights_of(inside: ModelContents) -> tuple[list[str], Floats] | None:
    """Names of columns and their weights float64[d, K] (or [d, 1]); None where the model has no weights."""
    engine = inside.engine
    if isinstance(engine, WeightedViews):
        weights = engine.weights.factors
    elif isinstance(engine, AveragedViews):
        weights = engine.averaged.weights
    else:
        return None
    schema = inside.schema
    names = [*schema.names(Kind.NUMERIC), *schema.names(Kind.NOMINAL), *schema.names(Kind.TEXT)]
    values = np.asarray(weights, dtype=np.float64)
    values = values[:, np.newaxis] if values.ndim == 1 else values
    if values.ndim != 2 or len(values) != len(names) or len(names) == 0:
        return None
    if values.shape[1] == len(schema.classes.values):
        values = values[:, canonical_order(schema.classes.values)]
    return names, values


def weight_picture(names: list[str], values: Floats, labels: list[str]) -> Safe:
    """Mean weights as bars, the largest first; weights by class as a table."""
    mean = values.mean(axis=1)
    order = sorted(range(len(names)), key=lambda j: (-mean[j], names[j]))
    entries = [(names[j], float(mean[j]), f"{mean[j]:.3f}") for j in order[:30]]
    top = max(1.0, float(mean.max(initial=1.0)))
    heads = labels if values.shape[1] == len(labels) and values.shape[1] > 1 else ["Weight"]
    lines: list[list[object]] = [
        [names[j], *(Cell(f"{v:.4f}", float(v)) for v in values[j, : len(heads)])] for j in order
    ]
    more = f"; the {len(entries)} heaviest of {len(names):,}" if len(names) > len(entries) else ""
    return join(
        (
            tag(
                "p",
                "A weight of 1 is what naive Bayes gives every attribute; those with lower ones are trusted less, "
                "since others say the same.",
                class_="remark",
            ),
            figure(f"Mean weight over the classes{more}", bars("Weights", entries, "c3", top)),
            fold(
                "Weights by class", table("Weights", ["Attribute", *(shortened(h, 24) for h in heads)], lines)
            ),
        )
    )
