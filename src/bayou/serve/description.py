"""What can be told about a living model, as JSON values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bayou.serve.answers import plain
from bayou.serve.living import LivingModel
from bayou.serve.log_follower import FollowedLog
from bayou.serve.snapshot import Measures

MOST_COLUMNS = 1_000  # that are listed


def described(living: LivingModel) -> dict[str, Any]:
    """The model that answers, what it was measured to achieve, and its shadows."""
    published, told = living.published, living.told
    model = published.model
    place = model.schema_.place if model.started else {}
    return {
        "name": living.name,
        "answering": published.variant,
        "model": repr(model),
        "law": model.law.value,
        "snapshot": published.digest,
        "rows": published.rows,
        "unlearned": told.unlearned,
        "memory_bytes": model.memory_bytes,
        "classes": [plain(label) for label in (model.labels() if model.started else [])],
        "columns": {name: kind.value for name, (kind, _) in list(place.items())[:MOST_COLUMNS]},
        "n_columns": len(place),
        "learns": living.learns,
        "waiting": living.queue.rows,
        "stopped": living.broken,
        "trouble": living.trouble,
        **({} if living.follower is None else {"follows": _followed(living.follower.told)}),
        "variants": {name: _measured(found) for name, found in told.variants.items()},
    }


def _followed(told: FollowedLog) -> dict[str, Any]:
    return {**asdict(told), "offsets": {str(p): offset for p, offset in told.offsets.items()}}


def _measured(found: Measures) -> dict[str, Any]:
    return {
        "model": found.model,
        "rows": found.rows,
        "refused_batches": found.refused,
        "running": found.running.headlines(),
        "rolling": found.windowed.headlines(),
        "calibration_error": found.calibration.error,
        "drift_rows": list(found.drifts),
    }
