"""The fourteen rows everybody knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).parents[1] / "vectors"
ROWS = """Sunny Hot High Weak No
Sunny Hot High Strong No
Overcast Hot High Weak Yes
Rain Mild High Weak Yes
Rain Cool Normal Weak Yes
Rain Cool Normal Strong No
Overcast Cool Normal Strong Yes
Sunny Mild High Weak No
Sunny Cool Normal Weak Yes
Rain Mild Normal Weak Yes
Sunny Mild Normal Strong Yes
Overcast Mild High Strong Yes
Overcast Hot Normal Weak Yes
Rain Mild High Strong No"""
COLUMNS = ["Outlook", "Temperature", "Humidity", "Wind"]
RECORDS = [dict(zip(COLUMNS, line.split()[:4], strict=True)) for line in ROWS.splitlines()]
LABELS = [line.split()[4] for line in ROWS.splitlines()]


def vectors(name: str) -> Any:
    return json.loads((VECTORS / name).read_text())


def taught(model: Any) -> Any:
    for record, label in zip(RECORDS, LABELS, strict=True):
        model.learn_one(record, label)
    return model.refresh()


def yes(model: Any, query: list[str], missing: str = "") -> float:
    record = {c: v for c, v in zip(COLUMNS, query, strict=True) if c not in missing.split(",")}
    return float(model.predict_proba_one(record)["Yes"])
