"""The description of a living model that `GET /model` returns."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bayou.serve.answers import plain
from bayou.serve.living import LivingModel
from bayou.serve.log_follower import FollowedLog
from bayou.serve.snapshot import Measures

MOST_COLUMNS = 1_000  # that are listed


def describe(living: LivingModel) -> dict[str, Any]:
    """The model that answers, the measures of its predictions, and those of its shadows, as JSON values."""
    published, status = living.published, living.status
    model = published.model
    place = model.schema_.place if model.started else {}
    return {
        "name": living.name,
        "answering": published.variant,
        "model": repr(model),
        "law": model.law.value,
        "snapshot": published.digest,
        "rows": published.rows,
        "unlearned": status.unlearned,
        "memory_bytes": model.memory_bytes,
        "classes": [plain(label) for label in (model.labels() if model.started else [])],
        "columns": {name: kind.value for name, (kind, _) in list(place.items())[:MOST_COLUMNS]},
        "n_columns": len(place),
        "learns": living.learns,
        "waiting": living.queue.rows,
        "stopped": living.broken,
        "trouble": living.trouble,
        **({} if living.follower is None else {"follows": _followed(living.follower.progress)}),
        "variants": {name: _measured(measures) for name, measures in status.variants.items()},
    }


def _followed(log: FollowedLog) -> dict[str, Any]:
    return {**asdict(log), "offsets": {str(p): offset for p, offset in log.offsets.items()}}


def _measured(measures: Measures) -> dict[str, Any]:
    return {
        "model": measures.model,
        "rows": measures.rows,
        "refused_batches": measures.refused,
        "running": measures.running.headlines(),
        "rolling": measures.windowed.headlines(),
        "calibration_error": measures.calibration.error,
        "drift_rows": list(measures.drifts),
    }
