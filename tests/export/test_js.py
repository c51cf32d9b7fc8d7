"""The exported module in node, and the page in a real browser, give the model's probabilities."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayou.export.js import to_js, to_page
from bayou.export.scoring import model_scorer
from bayou.scorer import Scorer
from tests.conftest import PATIENCE
from tests.export.models import KERNELS, MODELS, QUICK, WORDY, Row, expected, mixed, model_of, rows_for

LONG = bool(os.environ.get("BAYOU_LONG"))
NAMES = [name for name in (MODELS if LONG else QUICK) if name not in KERNELS]
SCRIPT = """
import { readFileSync, writeFileSync } from "node:fs";
const names = new Map([["-inf", -Infinity], ["inf", Infinity], ["nan", NaN]]);
const revived = (key, value) => (names.has(value) ? names.get(value) : value);
const out = {};
for (const name of JSON.parse(readFileSync("names.json", "utf8"))) {
  const { predict } = await import(`./${name}.mjs`);
  out[name] = JSON.parse(readFileSync(`${name}.json`, "utf8"), revived).map(predict);
}
writeFileSync("out.json", JSON.stringify(out));
"""


def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("NO NODE: the exported JavaScript is not run; install nodejs")
    return found


def plain(row: Row) -> Row:
    """A row as JSON: numbers that JSON has not become the names of them."""
    return {k: (str(v) if isinstance(v, float) and not np.isfinite(v) else v) for k, v in row.items()}


def scored(folder: Path, given: dict[str, tuple[Scorer, list[Row]]]) -> dict[str, np.ndarray[Any, Any]]:
    """One run of node for many models."""
    for name, (scorer, rows) in given.items():
        (folder / f"{name}.mjs").write_text(to_js(scorer), encoding="utf-8")
        (folder / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")
    (folder / "names.json").write_text(json.dumps(list(given)))
    (folder / "run.mjs").write_text(SCRIPT)
    ran = subprocess.run([node(), "run.mjs"], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[:3000]
    return {name: np.array(found) for name, found in json.loads((folder / "out.json").read_text()).items()}


def test_javascript_gives_the_models_probabilities(tmp_path: Path) -> None:
    models = {name: model_of(name) for name in NAMES}
    rows = {name: rows_for(name, 10_000 if LONG else 60) for name in NAMES}
    given = {
        f"m{i}": (model_scorer(models[n]), [{"words": row} if n in WORDY else plain(row) for row in rows[n]])
        for i, n in enumerate(NAMES)
    }
    found = scored(tmp_path, given)
    for i, name in enumerate(NAMES):
        np.testing.assert_allclose(
            found[f"m{i}"], expected(models[name], rows[name]), rtol=0, atol=1e-12, err_msg=name
        )


def test_text_is_taken_apart_as_in_python(tmp_path: Path) -> None:
    from bayou import MultinomialNB

    said = ["Cheap pills, NOW cheap!", "Grüße an die Müllers, 3 x 14", "a bb ccc_d 中文字 été", ""]
    model = MultinomialNB().fit({"note": said[:3]}, ["spam", "ham", "else"])
    rows = [{"note": text} for text in [*said, "cheap été 中文字 14 a"]]
    found = scored(tmp_path, {"m": (model_scorer(model), rows)})["m"]
    np.testing.assert_allclose(found, model.proba(model.encode(rows)), rtol=0, atol=1e-12)


def test_the_page_scores_a_form_and_explains(browser: Any, tmp_path: Path) -> None:
    from bayou import NaiveBayes

    model = mixed(lambda: NaiveBayes("gaussian"))
    path = tmp_path / "model.html"
    path.write_text(to_page(model_scorer(model)), encoding="utf-8")
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    trouble: list[str] = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    page.get_by_label("height").fill("1.25")
    page.get_by_label("sky").select_option(label="grey")
    page.get_by_label("flag").select_option(label="true")
    row = {"height": 1.25, "sky": "grey", "flag": True}
    shown = [float(cell) for cell in page.locator("#proba tbody td.number").all_inner_texts()]
    np.testing.assert_allclose(shown, expected(model, [row])[0], atol=5.1e-5)
    explained = model.explain(row)
    terms = dict(
        zip(
            page.locator("#terms tbody td.name").all_inner_texts(),
            page.locator("#terms tbody td.number").all_inner_texts(),
            strict=True,
        )
    )
    assert float(terms["before anything is known"]) == pytest.approx(explained.base, abs=5.1e-5)
    assert float(terms["sky = grey"]) == pytest.approx(explained.terms["sky"], abs=5.1e-5)
    assert f"{explained.label} rather than {explained.against}" in page.locator("#why").inner_text()
    assert page.locator("#answer").inner_text().startswith(f"{explained.label}, with a probability of ")
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    assert trouble == []
    assert requests == [path.as_uri()]
    page.close()
