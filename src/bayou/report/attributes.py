"""What a model knows about each of its columns, as data: the same for pictures of every kind."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayou.align import canonical_order
from bayou.block import Floats
from bayou.densities.gaussian import Gaussian
from bayou.engines.joint import joint_columns
from bayou.plain_text import shortened
from bayou.readings.groups import GroupReading
from bayou.readings.intervals import IntervalReading
from bayou.report.information import count_information, normal_information
from bayou.report.model_contents import ModelContents
from bayou.report.numbers import number
from bayou.schema import Kind, Label, Vocabulary
from bayou.summaries.joint_counts import JointCounts
from bayou.summaries.moments import Moments
from bayou.summaries.value_counts import ValueCounts
from bayou.views.view import Searched


@dataclass(frozen=True, eq=False)
class Attribute:
    """One column: parts of its values with class weights, or a normal density per class.

    `shape` is "intervals", "groups", "values" or "gaussian"; `information` the share of the class entropy that the
    column tells by itself, I(C; X) / H(C): by the counts of its parts or, where there are none, as it would be if the
    values were as normal as the densities (see `by_normals`); `level` the relevance MODL gives, where it was
    searched. `counts` is float64[parts, K], classes in canonical order; `weight`, `centre` and `spread` are float64[K].
    """

    name: str
    kind: str
    shape: str
    information: float
    level: float | None
    weight: Floats
    parts: tuple[str, ...] = ()
    cuts: tuple[float, ...] = ()
    counts: Floats | None = None
    centre: Floats | None = None
    spread: Floats | None = None

    @property
    def by_normals(self) -> bool:
        """Whether `information` is that of the fitted densities, which heavy tails can make far too large."""
        return self.counts is None

    @property
    def present(self) -> float:
        """Weight of the rows in which the column has a value."""
        return float(self.weight.sum())


def class_labels(inside: ModelContents) -> list[Label]:
    """Classes in canonical order."""
    values = inside.schema.classes.values
    return [values[i] for i in canonical_order(values)]


def attributes_of(inside: ModelContents) -> list[Attribute]:
    """Every numeric and nominal column the model has tables of, the most informative first.

    Intervals and groups are read as of the last row, as `refresh` would; the model stays as it is.
    """
    found = list(_all(inside))
    return sorted(found, key=lambda a: (-a.information, -(a.level or 0.0), a.name))


def _all(inside: ModelContents) -> Iterator[Attribute]:
    order = canonical_order(inside.schema.classes.values)
    for view in inside.views.values():
        summary = view.summary
        reading = view.reader.read(summary) if isinstance(view, Searched) else None
        if isinstance(reading, IntervalReading):
            yield from _intervals(inside, reading, order)
        elif isinstance(reading, GroupReading):
            yield from _groups(inside, reading, order)
        elif isinstance(summary, Moments):
            yield from _densities(inside, summary, view, order)
        elif isinstance(summary, ValueCounts):
            yield from _values(inside, summary, order)
        elif isinstance(summary, JointCounts):
            yield from _joint(inside, summary.flushed(), order)


def _of_counts(
    name: str,
    kind: str,
    shape: str,
    parts: list[str],
    counts: Floats,
    level: float | None = None,
    cuts: tuple[float, ...] = (),
) -> Attribute:
    return Attribute(
        name, kind, shape, count_information(counts), level, counts.sum(axis=0), tuple(parts), cuts, counts
    )


def _intervals(inside: ModelContents, reading: IntervalReading, order: Any) -> Iterator[Attribute]:
    for name, part in zip(inside.schema.names(Kind.NUMERIC), reading, strict=False):
        cuts = tuple(part.cuts.tolist())
        yield _of_counts(
            name, "numeric", "intervals", interval_names(cuts), part.counts[:, order], part.level, cuts
        )


def interval_names(cuts: tuple[float, ...]) -> list[str]:
    """Intervals in words.

    >>> interval_names((1.0, 2.5))
    ['≤ 1', '1 to 2.5', '> 2.5']
    """
    if not cuts:
        return ["all values"]
    inner = [f"{number(a)} to {number(b)}" for a, b in itertools.pairwise(cuts)]
    return [f"≤ {number(cuts[0])}", *inner, f"> {number(cuts[-1])}"]


def _groups(inside: ModelContents, reading: GroupReading, order: Any) -> Iterator[Attribute]:
    for j, name in enumerate(inside.schema.names(Kind.NOMINAL)):
        words = inside.schema.vocabularies[name]
        rest = reading.rest_of(j)
        parts = []
        for g, keys in enumerate(reading.groups_of(j)):
            listed = [] if reading.hashed else [str(words.name(key - 1)) for key in keys]
            if reading.hashed and keys:
                listed.append(f"{len(keys):,} values")
            if g == rest:
                listed.append("all others")
            parts.append(", ".join(listed) or "(none)")
        counts = reading.counts[reading.parts[j] : reading.parts[j + 1]][:, order]
        yield _of_counts(name, "nominal", "groups", parts, counts, float(reading.levels[j]))


def _densities(inside: ModelContents, summary: Moments, view: Any, order: Any) -> Iterator[Attribute]:
    reader = view.reader if isinstance(getattr(view, "reader", None), Gaussian) else Gaussian()
    _, centre, half = reader.tables(summary)
    spread = np.sqrt(0.5 / np.maximum(half, 1e-300))
    information = normal_information(summary.n, centre, spread)
    for j, name in enumerate(inside.schema.names(Kind.NUMERIC)[: summary.n.shape[1]]):
        yield Attribute(
            name, "numeric", "gaussian", float(information[j]), None, summary.n[order, j],
            centre=centre[order, j], spread=spread[order, j],
        )  # fmt: skip


def _values(inside: ModelContents, summary: ValueCounts, order: Any) -> Iterator[Attribute]:
    for j, name in enumerate(inside.schema.names(Kind.NOMINAL)[: len(summary.sizes)]):
        first = summary.offsets[j]
        counts = summary.counts[first : first + summary.sizes[j]][:, order]
        yield _value_table(name, counts, inside.schema.vocabularies[name])


def _value_table(name: str, counts: Floats, words: Vocabulary) -> Attribute:
    """Values that were met, the heaviest first."""
    weight = counts.sum(axis=1)
    met = [v for v in np.argsort(-weight, kind="stable").tolist() if weight[v] > 0]
    return _of_counts(name, "nominal", "values", [str(words.name(v)) for v in met], counts[met])


def _joint(inside: ModelContents, summary: JointCounts, order: Any) -> Iterator[Attribute]:
    for j, name in enumerate(joint_columns(inside.schema)[: len(summary.sizes)]):
        counts = summary.singles[summary.layout[0, j] : summary.layout[0, j] + summary.sizes[j]][:, order]
        if j < summary.nominal:
            yield _value_table(name, counts, inside.schema.vocabularies[name])
            continue
        cuts = tuple(c for c in summary.cuts[j - summary.nominal].tolist() if c == c)[: len(counts) - 1]
        yield _of_counts(
            name, "numeric", "intervals", interval_names(cuts), counts[: len(cuts) + 1], None, cuts
        )


def described(attribute: Attribute) -> str:
    """One line: what the parts are."""
    if attribute.shape == "gaussian":
        return f"normal density per class, {number(attribute.present)} rows"
    shown = ", ".join(shortened(part, 24) for part in attribute.parts[:6])
    more = f" and {len(attribute.parts) - 6:,} more" if len(attribute.parts) > 6 else ""
    return f"{len(attribute.parts):,} {attribute.shape}: {shown}{more}"
