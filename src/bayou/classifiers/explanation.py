"""Explanations: the contribution of each attribute of a row to the log-odds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from bayou.block import Floats
from bayou.encoding.table import table_of
from bayou.errors import DataError
from bayou.plain_text import clean
from bayou.schema import Label

if TYPE_CHECKING:
    from bayou.classifiers.estimator_core import EstimatorCore

IMPOSSIBLE = 745.0  # -log of the smallest number above 0


@dataclass(frozen=True)
class Explanation:
    """Log-odds of `label` against `against`, taken apart.

    `base` is the log-odds of a row without attributes; `terms` is the loss of log-odds when an attribute is missing,
    word by word for a text; `together` is the rest, the joint effect of attributes.
    base + sum(terms) + together = log_odds; for naive Bayes `together` is 0.
    """

    label: Label
    against: Label
    probability: float
    log_odds: float
    base: float
    terms: Mapping[str, float]
    values: Mapping[str, Any]
    together: float

    def __str__(self) -> str:
        head = (
            f"{clean(self.label)} rather than {clean(self.against)}: log-odds {self.log_odds:+.4f}, "
            f"P = {self.probability:.4f}"
        )
        width = max([len("together"), *(len(self._name(name)) for name in self.terms)])
        rows = [("base", self.base), *((self._name(name), term) for name, term in self._sorted())]
        rows.append(("together", self.together))
        return "\n".join([head, *(f"  {name:<{width}}  {value:+z.4f}" for name, value in rows)])

    def _name(self, name: str) -> str:
        return clean(f"{name} = {self.values[name]}")

    def _sorted(self) -> list[tuple[str, float]]:
        return sorted(self.terms.items(), key=lambda item: -abs(item[1]))

    def _repr_html_(self) -> str:
        rows = [
            ("base", self.base),
            *((self._name(n), t) for n, t in self._sorted()),
            ("together", self.together),
        ]
        widest = max([abs(value) for _, value in rows] + [1e-12])
        bars = "".join(
            f"<tr><td>{escape(name)}</td><td style='text-align:right'>{value:+z.3f}</td>"
            f"<td style='min-width:14em'><div style='height:.8em;width:{50 * abs(value) / widest:.1f}%;"
            f"margin-left:{50 if value >= 0 else 50 - 50 * abs(value) / widest:.1f}%;"
            f"background:{'#2a78b8' if value >= 0 else '#c8553d'}'></div></td></tr>"
            for name, value in rows
        )
        head = f"<b>{escape(str(self.label))}</b> rather than <b>{escape(str(self.against))}</b>"
        return (
            f"<p>{head}: log-odds {self.log_odds:+.3f}, P = {self.probability:.3f}</p><table>{bars}</table>"
        )


def explain(
    model: EstimatorCore, row: Any, label: Label | None = None, against: Label | None = None
) -> Explanation:
    """Explain the log-odds of one row; by default of the most probable class against the second."""
    from bayou.classifiers.word_terms import without_words  # not needed to learn or predict

    record = record_of(row)
    if hasattr(row, "tocsr") and not model.numbers_are_words:
        raise DataError(
            f"{type(model).__name__} reads a sparse row as one document: there are no attributes to tell apart",
            remedy="models of words, such as MultinomialNB, explain it word by word",
        )
    present = {name: value for name, value in record.items() if value is not None}
    variants = [present, {}, *({k: v for k, v in present.items() if k != name} for name in present)]
    joint = _finite(model._engine.joint_log_proba(model.encode(variants)))
    labels = model.schema_.classes.values
    if len(labels) < 2:
        raise DataError("an explanation weighs one class against another; the model knows fewer than two")
    proba = dict(zip(model.labels(), model._proba(model.encode([present]))[0].tolist(), strict=True))
    ranked = sorted(proba, key=lambda c: -proba[c])
    label = ranked[0] if label is None else label
    against = next(c for c in ranked if c != label) if against is None else against
    for chosen in (label, against):
        if chosen not in labels:
            raise DataError("not a class of this model", value=chosen, remedy=f"its classes are {labels!r}")
    odds = joint[:, labels.index(label)] - joint[:, labels.index(against)]
    terms = dict(zip(present, (odds[0] - odds[2:]).tolist(), strict=True))
    base, total, full = float(odds[1]), float(odds[0]), joint[0]
    for name, words, block in without_words(model, model.encode([present]), present):
        joint = _finite(model._engine.joint_log_proba(block))
        without = joint[:, labels.index(label)] - joint[:, labels.index(against)]
        del terms[name], present[name]
        recipe = model.schema_.text_recipe(name)
        rare = (joint == full).all(axis=1) & (recipe is not None and recipe.min_count > 1)
        for (word, n), term, ignored in zip(words.items(), (total - without).tolist(), rare, strict=True):
            if not ignored:  # words below `min_count` have no effect, and are left out
                terms[f"{name}: {word}"] = term
                present[f"{name}: {word}"] = int(n) if n == int(n) else n
    return Explanation(
        label, against, proba[label], total, base, terms, present, total - base - sum(terms.values())
    )  # fmt: skip


def _finite(joint: Floats) -> Floats:
    """Joint log-probabilities with impossible classes made finite, far below the least probable of the others."""
    possible = joint > -np.inf
    return np.where(possible, joint, joint.min(initial=0.0, where=possible) - IMPOSSIBLE)


def record_of(row: Any) -> dict[str, Any]:
    """One row of any input type as a record."""
    if isinstance(row, Mapping) or (hasattr(row, "items") and np.ndim(row) == 1):
        return {str(k): v for k, v in row.items()}
    table = table_of(np.atleast_2d(row) if isinstance(row, list | tuple | np.ndarray) else row)
    if table.n != 1:
        raise DataError(f"one row is needed, {table.n} given", remedy="give a record or one row of a frame")
    if table.sparse is not None:
        words = (table.sparse.names[i] for i in table.sparse.ids.tolist())
        return dict(zip(words, table.sparse.counts.tolist(), strict=True))
    if table.matrix is not None:
        return dict(zip(table.names, table.matrix[0].tolist(), strict=True))
    first = [column.to_pylist()[0] if hasattr(column, "to_pylist") else column[0] for column in table.columns]
    return dict(zip(table.names, first, strict=True))
