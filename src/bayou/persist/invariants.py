"""What must hold between the numbers of a state, checked before a kernel sees them.

A summary says it itself by a method `check(arrays)` (the capability `Checks`), called once it is realigned to the
schema; a classifier that is not made of views may have the same method for the whole. `bayou.checks` has the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bayou.checks import SLACK, counts, finite, require
from bayou.engines.engine import under, views_of
from bayou.errors import ModelFileError
from bayou.kernels.scrub import HUGE
from bayou.persist.container import Arrays
from bayou.protocols import Checks
from bayou.schema import Kind, Schema
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.last_label import LastLabel
from bayou.summaries.moments import Moments
from bayou.summaries.value_counts import ValueCounts
from bayou.summaries.word_counts import WordCounts

READING = "reading."


def _class_counts(arrays: Arrays, schema: Schema) -> None:
    counts("the class weights", arrays["weight"])
    declared = schema.classes.size if schema.closed else 0
    require(arrays["declared"].tolist() == [declared], f"{declared} classes are declared by the schema")


def _last_label(arrays: Arrays, schema: Schema) -> None:
    require(-1 <= arrays["last"][0] < schema.classes.size, "the last label is not a class")


def _value_counts(arrays: Arrays, schema: Schema) -> None:
    vocabularies = schema.vocabulary_list(Kind.NOMINAL)
    require(arrays["sizes"].tolist() == [v.size for v in vocabularies], "sizes are not those of the schema")
    require(
        arrays["declared"].tolist() == [v.declared for v in vocabularies],
        "the declared numbers of values are not those of the schema",
    )
    cells, present = arrays["counts"], arrays["present"]
    counts("the value counts", cells)
    counts("the counts of rows with a value", present)
    ends = np.cumsum(arrays["sizes"])
    for j, (lo, hi) in enumerate(zip(ends - arrays["sizes"], ends, strict=True)):
        gap = np.abs(cells[lo:hi].sum(axis=0) - present[j])
        require((gap <= SLACK * (1.0 + present[j])).all(), f"the counts of nominal column {j} do not add up")


def _moments(arrays: Arrays, schema: Schema) -> None:
    counts("the weights of numeric columns", arrays["n"])
    finite("the means", arrays["mean"])
    require(np.abs(arrays["mean"]).max(initial=0.0) <= HUGE, f"a mean lies beyond {HUGE}")
    counts("the squared deviations", arrays["m2"], most=1e300)


def _word_counts(arrays: Arrays, schema: Schema) -> None:
    vocabularies = schema.vocabulary_list(Kind.TEXT)
    sizes = [[v.size, v.declared] for v in vocabularies]
    require(arrays["sizes"].tolist() == sizes, "the numbers of words are not those of the schema")
    for j in range(len(sizes)):
        counts("the word counts", arrays[f"{j}.counts"])
        counts("the total weights of words", arrays[f"{j}.total"])
    counts("the weights of documents", arrays.get("documents", np.zeros(0)))


_KNOWN: dict[type[Any], Callable[[Arrays, Schema], None]] = {
    ClassCounts: _class_counts,
    LastLabel: _last_label,
    Moments: _moments,
    ValueCounts: _value_counts,
    WordCounts: _word_counts,
}


def parts(model: Any) -> Iterator[tuple[str, Any]]:
    """Where its arrays are, and the view itself, for every view of a model and of the engines inside it."""
    return views_of(model.engine)


def loose_views(model: Any) -> tuple[str, ...]:
    """Prefixes of the arrays for whose lengths a summary or reader answers itself."""
    return tuple(prefix for prefix, view in parts(model) if type(view.summary) not in _KNOWN or view.searched)


def unchecked(model: Any) -> list[str]:
    """Summaries of a model that has begun which nobody answers for: their files are not safe to take from anyone.

    A classifier made of classifiers answers for arrays of its own in `restore`.
    """
    views = [type(view.summary) for _, view in parts(model)]
    return sorted({cls.__name__ for cls in views if cls not in _KNOWN and not issubclass(cls, Checks)})


def check_state(model: Any, arrays: Arrays, schema: Schema) -> None:
    """Refuse arrays that no sequence of rows can have left in a model that has begun over the schema."""
    for name in ("rows", "learned"):
        if name in arrays:
            finite("the number of rows", arrays[name])
    for prefix, view in parts(model):
        kept = {k: a for k, a in under(prefix, arrays).items() if not k.startswith(READING)}
        check = _KNOWN.get(type(view.summary))
        if check is not None:
            check(kept, schema)
        elif isinstance(view.summary, Checks):
            _asked(view.summary.check, kept)


def _asked(check: Callable[[Arrays], None], arrays: Arrays) -> None:
    try:
        check(arrays)
    except ModelFileError:
        raise
    except Exception as problem:  # an objection of any type is an objection
        raise ModelFileError(f"the state contradicts itself: {problem}") from problem
