"""The columns of a model: parts of their values (intervals, groups, values) with class weights, or moments."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayou.align import canonical_order
from bayou.block import Floats
from bayou.densities.gaussian import Gaussian
from bayou.densities.kernel import DensityReading
from bayou.engines.joint import joint_columns
from bayou.inspection.information import count_information, mean_information
from bayou.inspection.model_contents import ModelContents
from bayou.plain_text import clean, number, percent, shortened, table_text
from bayou.readings.groups import GroupReading
from bayou.readings.intervals import IntervalReading, Intervals
from bayou.readings.modl import MODL
from bayou.schema import Kind, Label, Vocabulary
from bayou.summaries.count_min import CountMin
from bayou.summaries.heavy_hitters import HeavyHitters
from bayou.summaries.joint_counts import JointCounts
from bayou.summaries.moments import Moments
from bayou.summaries.value_counts import ValueCounts
from bayou.views.view import Searched


@dataclass(frozen=True, eq=False)
class Attribute:
    """One column: parts of its values with class weights, or mean and deviation per class.

    `shape` is "intervals", "groups", "values", "words", "kernel" (kernel densities; the parts are then MODL's
    intervals of the summary behind them), "sketch" (hashed counts without names) or "gaussian". `information` is the
    share of the class entropy that the column removes by itself, I(C; X) / H(C), by the counts of its parts; for
    "words", that of one word. A "gaussian" column has moments instead of counts: `information` is then a lower bound
    from the means of the classes (`at_least`), whatever the distribution. `level` is the relevance by MODL, where it
    was searched. `labels` are the classes in canonical order; `counts` is float64[parts, K], `weight`, `centre` and
    `spread` are float64[K].
    """

    name: str
    kind: str
    shape: str
    information: float
    level: float | None
    labels: tuple[Label, ...]
    weight: Floats
    parts: tuple[str, ...] = ()
    cuts: tuple[float, ...] = ()
    counts: Floats | None = None
    centre: Floats | None = None
    spread: Floats | None = None

    @property
    def at_least(self) -> bool:
        """Whether `information` is a lower bound, since the column has no counts."""
        return self.counts is None

    @property
    def present(self) -> float:
        """Weight of the rows in which the column has a value."""
        return float(self.weight.sum())

    @property
    def proba(self) -> Floats:
        """float64[parts, K], the share of each class in each part; zeros in a part without rows."""
        assert self.counts is not None
        return np.asarray(self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1e-300))

    def __len__(self) -> int:
        return len(self.parts)

    def __str__(self) -> str:
        headers = [self.shape, "weight", *(shortened(f"P({label!s})", 30) for label in self.labels)]
        assert self.counts is not None
        lines = [
            [shortened(part, 60), number(float(counts.sum())), *(f"{p:.4f}" for p in proba)]
            for part, counts, proba in zip(self.parts, self.counts, self.proba.tolist(), strict=True)
        ]
        return f"{clean(self.name)}: information {percent(self.information)} %\n{table_text(headers, lines)}"


def class_labels(inside: ModelContents) -> list[Label]:
    """The class labels in canonical order."""
    values = inside.schema.classes.values
    return [values[i] for i in canonical_order(values)]


def attributes_of(inside: ModelContents) -> list[Attribute]:
    """The numeric and nominal columns of which the model has statistics, the most informative first.

    Intervals and groups are those of all rows learned so far, as after `refresh`; the model does not change.
    """
    attributes = list(_all(inside))
    return sorted(attributes, key=lambda a: (-a.information, -(a.level or 0.0), a.name))


def _all(inside: ModelContents) -> Iterator[Attribute]:
    order = canonical_order(inside.schema.classes.values)
    for view in inside.views.values():
        summary = view.summary
        reading = view.reader.read(summary) if isinstance(view, Searched) else None
        if isinstance(reading, IntervalReading):
            yield from _intervals(inside, reading, order, "intervals")
        elif isinstance(reading, DensityReading):
            yield from _intervals(inside, Intervals(MODL()).read(summary), order, "kernel")
        elif isinstance(reading, GroupReading):
            yield from _groups(inside, reading, order)
        elif isinstance(summary, Moments):
            yield from _densities(inside, summary, view, order)
        elif isinstance(summary, ValueCounts):
            yield from _values(inside, summary, order)
        elif isinstance(summary, JointCounts):
            yield from _joint(inside, summary.flushed(), order)
        elif isinstance(summary, HeavyHitters):
            yield from _heavy_hitters(inside, summary, order)
        elif isinstance(summary, CountMin):
            yield from _sketched(inside, summary, order)


def _of_counts(
    inside: ModelContents,
    name: str,
    kind: str,
    shape: str,
    parts: list[str],
    counts: Floats,
    level: float | None = None,
    cuts: tuple[float, ...] = (),
) -> Attribute:
    return Attribute(
        name, kind, shape, count_information(counts), level, tuple(class_labels(inside)),
        counts.sum(axis=0), tuple(parts), cuts, counts,
    )  # fmt: skip


def _intervals(
    inside: ModelContents, reading: IntervalReading, order: Any, shape: str
) -> Iterator[Attribute]:
    for name, part in zip(inside.schema.names(Kind.NUMERIC), reading, strict=False):
        cuts = tuple(part.cuts.tolist())
        yield _of_counts(
            inside, name, "numeric", shape, interval_names(cuts), part.counts[:, order], part.level, cuts
        )


def interval_names(cuts: tuple[float, ...]) -> list[str]:
    """The names of the intervals between cuts.

    >>> interval_names((1.0, 2.5))
    ['≤ 1', '1 to 2.5', '> 2.5']
    """
    if not cuts:
        return ["all values"]
    inner = [f"{number(a)} to {number(b)}" for a, b in itertools.pairwise(cuts)]
    return [f"≤ {number(cuts[0])}", *inner, f"> {number(cuts[-1])}"]


def _groups(inside: ModelContents, reading: GroupReading, order: Any) -> Iterator[Attribute]:
    for j, name in enumerate(inside.schema.names(Kind.NOMINAL)):
        vocabulary = inside.schema.vocabularies[name]
        default_group = reading.rest_of(j)
        parts = []
        for g, keys in enumerate(reading.groups_of(j)):
            names = [] if reading.hashed else [str(vocabulary.name(key - 1)) for key in keys]
            if reading.hashed and keys:
                names.append(f"{len(keys):,} values")
            if g == default_group:
                names.append("all others")
            parts.append(", ".join(names) or "(none)")
        counts = reading.counts[reading.parts[j] : reading.parts[j + 1]][:, order]
        yield _of_counts(inside, name, "nominal", "groups", parts, counts, float(reading.levels[j]))


def _densities(inside: ModelContents, summary: Moments, view: Any, order: Any) -> Iterator[Attribute]:
    reader = view.reader if isinstance(getattr(view, "reader", None), Gaussian) else Gaussian()
    _, centre, half = reader.tables(summary)
    spread = np.sqrt(0.5 / np.maximum(half, 1e-300))
    labels = tuple(class_labels(inside))
    for j, name in enumerate(inside.schema.names(Kind.NUMERIC)[: summary.n.shape[1]]):
        information = mean_information(summary.n[:, j], summary.mean[:, j], summary.m2[:, j])
        yield Attribute(
            name, "numeric", "gaussian", information, None, labels, summary.n[order, j],
            centre=centre[order, j], spread=spread[order, j],
        )  # fmt: skip


def _values(inside: ModelContents, summary: ValueCounts, order: Any) -> Iterator[Attribute]:
    for j, name in enumerate(inside.schema.names(Kind.NOMINAL)[: len(summary.sizes)]):
        first = summary.offsets[j]
        counts = summary.counts[first : first + summary.sizes[j]][:, order]
        yield _value_table(inside, name, counts, inside.schema.vocabularies[name])


def _value_table(inside: ModelContents, name: str, counts: Floats, words: Vocabulary) -> Attribute:
    """The values that occurred, the most frequent first."""
    weight = counts.sum(axis=1)
    seen = [v for v in np.argsort(-weight, kind="stable").tolist() if weight[v] > 0]
    return _of_counts(inside, name, "nominal", "values", [str(words.name(v)) for v in seen], counts[seen])


def _joint(inside: ModelContents, summary: JointCounts, order: Any) -> Iterator[Attribute]:
    for j, name in enumerate(joint_columns(inside.schema)[: len(summary.sizes)]):
        counts = summary.singles[summary.layout[0, j] : summary.layout[0, j] + summary.sizes[j]][:, order]
        if j < summary.nominal:
            yield _value_table(inside, name, counts, inside.schema.vocabularies[name])
            continue
        cuts = tuple(c for c in summary.cuts[j - summary.nominal].tolist() if c == c)[: len(counts) - 1]
        yield _of_counts(
            inside, name, "numeric", "intervals", interval_names(cuts), counts[: len(cuts) + 1], None, cuts
        )


def _heavy_hitters(inside: ModelContents, summary: HeavyHitters, order: Any) -> Iterator[Attribute]:
    for j, name in enumerate(inside.schema.names(Kind.NOMINAL)[: len(summary.columns)]):
        values = summary.kept(j)
        counts = np.array([hits for _, _, _, hits in values]).reshape(len(values), len(order))[:, order]
        yield _of_counts(inside, name, "nominal", "values", [text for text, _, _, _ in values], counts)


def _sketched(inside: ModelContents, summary: CountMin, order: Any) -> Iterator[Attribute]:
    """The row of hashed cells with the most information: values share cells, which can only lose information."""
    for j, name in enumerate(inside.schema.names(Kind.NOMINAL)[: len(summary.tables)]):
        rows = [row[row.any(axis=1)][:, order] for row in summary.tables[j]]
        counts = max(rows, key=count_information)
        cells = [f"cell {i}" for i in range(len(counts))]
        yield _of_counts(inside, name, "nominal", "sketch", cells, counts)


def described(attribute: Attribute) -> str:
    """A line of text on the parts of an attribute."""
    if attribute.shape == "gaussian":
        return f"normal density per class, {number(attribute.present)} rows"
    if attribute.shape in ("kernel", "sketch"):
        kind = "kernel density per class" if attribute.shape == "kernel" else "hashed counts without names"
        return f"{kind}, {number(attribute.present)} rows"
    shown = ", ".join(shortened(part, 24) for part in attribute.parts[:6])
    more = f" and {len(attribute.parts) - 6:,} more" if len(attribute.parts) > 6 else ""
    return f"{len(attribute.parts):,} {attribute.shape}: {shown}{more}"
