"""The exported ONNX, run by onnxruntime, gives the model's probabilities; only the standard opset is used."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import pytest

from bayou.export.names import as_text
from bayou.export.onnx import to_onnx
from bayou.export.scoring import model_scorer
from tests.export.models import KERNELS, MODELS, QUICK, WORDY, Row, expected, model_of, rows_for

LONG = bool(os.environ.get("BAYOU_LONG"))
NAMES = [name for name in (MODELS if LONG else QUICK) if name not in KERNELS]
onnx = pytest.importorskip("onnx", reason="NO ONNX: pip install 'bayou[export]'")
runtime = pytest.importorskip(
    "onnxruntime", reason="NO ONNXRUNTIME: exported models are not run; pip install onnxruntime"
)


def scored(
    model: Any, rows: list[Row], wordy: bool, single: bool = False
) -> tuple[np.ndarray[Any, Any], list[Any]]:
    made = to_onnx(model_scorer(model), single)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = runtime.InferenceSession(made, options, providers=["CPUExecutionProvider"])
    about = session.get_modelmeta().custom_metadata_map
    missing, words = json.loads(about["bayou.missing"]), json.loads(about["bayou.words"])
    schema, real = model.schema_, np.float32 if single else np.float64
    names = [one.name for one in session.get_inputs()]
    feeds: dict[str, Any] = {}
    for name, column in zip(
        names, [*schema.names("numeric"), *schema.names("nominal"), *schema.names("text")], strict=True
    ):
        if column in schema.names("numeric"):
            with np.errstate(over="ignore"):
                feeds[name] = np.array([[row.get(column, np.nan)] for row in rows], dtype=np.float64).astype(
                    real
                )
        elif column in schema.names("nominal"):
            cells = [[missing if row.get(column) is None else as_text(row[column])] for row in rows]
            feeds[name] = np.array(cells, dtype=object)
        else:
            place = {word: i for i, word in enumerate(words[schema.names("text").index(column)])}
            known = schema.vocabularies[column]
            counts = np.zeros((len(rows), known.size), dtype=real)
            for i, row in enumerate(rows):
                for word, n in (row if wordy else row.get(column) or {}).items():
                    at = place.get(word, known.limit if known.overflowed else -1)
                    if at >= 0:
                        counts[i, at] += n
            feeds[name] = counts
    label, proba = session.run(["label", "probabilities"], feeds)
    assert {node.domain for node in onnx.load_from_string(made).graph.node} == {""}
    return proba, label.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_onnx_gives_the_models_probabilities(name: str) -> None:
    model, rows = model_of(name), rows_for(name, 10_000 if LONG else 60)
    found, _ = scored(model, rows, name in WORDY)
    np.testing.assert_allclose(found, expected(model, rows), rtol=0, atol=1e-12)


def test_onnx_in_single_precision() -> None:
    model = model_of("nb gaussian")
    rows = [
        {k: v for k, v in row.items() if not isinstance(v, float) or abs(v) < 1e3}
        for row in rows_for("nb gaussian", 10_000 if LONG else 60)
    ]
    found, _ = scored(model, rows, False, single=True)
    np.testing.assert_allclose(found, expected(model, rows), rtol=0, atol=1e-5)
