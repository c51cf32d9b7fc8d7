"""A model as a small table, for notebooks. Names come from data, so everything is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from bayou.schema import Kind

if TYPE_CHECKING:
    from bayou.classifiers.estimator_core import EstimatorCore

SHOWN = 10


def model_html(model: EstimatorCore) -> str:
    """A table of parameters, classes, columns, memory and merge law of a model."""
    rows = [("model", repr(model))]
    if model.started:
        schema = model.schema_
        rows.append(("classes", _first_names([str(label) for label in model.labels()])))
        rows += [
            (f"{kind.value} columns", _first_names(schema.names(kind))) for kind in Kind if schema.names(kind)
        ]
        rows.append(("memory", f"{model.memory_bytes:,} bytes"))
    else:
        rows.append(("state", "nothing learned yet"))
    rows.append(("merge", model.law.promise))
    return (
        "<table>"
        + "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in rows)
        + "</table>"
    )


def _first_names(names: list[str]) -> str:
    more = f" ... ({len(names)} in all)" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
