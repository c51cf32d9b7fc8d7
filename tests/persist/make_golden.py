"""Writes the golden files of the current format version. Run once per version; never for an old one."""

from __future__ import annotations

import json
from pathlib import Path

from tests.persist.data import records
from tests.persist.models import batch, random_model, trained

from bayou import Declared, MEstimate, NaiveBayes, files
from bayou.persist.container import VERSION


def main() -> None:
    folder = Path(__file__).parent / "golden"
    rows, labels = records(60, 2)
    declared = NaiveBayes(
        smoothing=MEstimate(0.5),
        schema=Declared(
            columns={"day": ["mon", "tue", "never"]}, classes=["UP", "DOWN", "flat", "none"], max_values=5
        ),
    )
    declared.learn_many(rows, labels)
    models = {
        kind: trained(kind, 60) for kind in ("MajorityClass", "NoChange", "NaiveBayes", "MultinomialNB")
    }
    for name, model in {**models, "declared": declared, "odd_labels": random_model(0)}.items():
        shown = batch(model, 5, 11)[0]
        proba = [[[repr(k), v] for k, v in row.items()] for row in model.predict_proba_many(shown)]
        files.save(model, folder / f"v{VERSION}_{name}.bayou")
        expected = {"version": VERSION, "rows": shown, "proba": proba}
        (folder / f"v{VERSION}_{name}.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
