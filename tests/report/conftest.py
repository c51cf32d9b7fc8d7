"""Pages for a real browser to open."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from bayou.classifiers import MultinomialNB, NaiveBayes
from bayou.classifiers.estimator import Estimator
from bayou.classifiers.hoeffding_tree import HoeffdingTree
from bayou.classifiers.tan import TAN
from bayou.classifiers.weighted import WeightedNB
from bayou.ensembles import ResetOnDrift
from bayou.evaluate import Evaluation, prequential
from bayou.report import Background, write_report
from bayou.streams import open_stream
from bayou.streams.generators import ManyGaussians

DATA = Path(__file__).parents[2].parent / "shared" / "data"


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core, which finds what keeps people out of a page: fetched once for an environment."""
    kept = Path(sys.prefix) / "axe.min.js"
    if not kept.exists():
        fetched = _fetched_axe(tmp_path_factory.mktemp("axe"))
        kept.with_suffix(f".{os.getpid()}").write_bytes(fetched)
        kept.with_suffix(f".{os.getpid()}").replace(
            kept
        )  # whole, or not there: another worker may look for it
    return kept.read_text()


def _fetched_axe(folder: Path) -> bytes:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("NO AXE-CORE: accessibility is not checked; install npm")
    packed = subprocess.run(
        [npm, "pack", "axe-core@4", "--silent"], cwd=folder, check=False, capture_output=True, timeout=300
    )
    found = sorted(folder.glob("axe-core-*.tgz"))
    if packed.returncode or not found:
        pytest.skip("NO AXE-CORE: accessibility is not checked; `npm pack axe-core` failed")
    with tarfile.open(found[0]) as archive:
        source = archive.extractfile("package/axe.min.js")
        assert source is not None
        return source.read()


def stream_and_models(name: str) -> tuple[Any, dict[str, Estimator]]:
    if name == "many":
        stream = ManyGaussians(120, informative=12, redundant=20, rows=3000, seed=3)
        return stream, {"nb": NaiveBayes(numeric="gk"), "gaussian": NaiveBayes()}
    if not DATA.is_dir():
        pytest.skip("the real data sets are not beside the project (../shared/data)")
    if name == "electricity":
        models: dict[str, Estimator] = {
            "gk": NaiveBayes(numeric="gk"), "reset": ResetOnDrift(), "tree": HoeffdingTree(), "wnb": WeightedNB(),
        }  # fmt: skip
        return open_stream(str(DATA / "streams" / "elecNormNew.arff.gz")), models
    if name == "adult":
        stream = open_stream(str(DATA / "tabular" / "adult-train.csv.gz"), target="class")
        return stream, {"gk": NaiveBayes(numeric="gk"), "tan": TAN()}
    stream = open_stream(str(DATA / "text" / "SMSSpamCollection.tsv.gz"), format="text")
    return stream, {"mnb": MultinomialNB()}


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Pages by name: the evaluation behind each, its models, and the file."""
    folder = tmp_path_factory.mktemp("pages")
    known: dict[str, tuple[Evaluation, dict[str, Estimator], Path]] = {}

    def make(name: str) -> tuple[Evaluation, dict[str, Estimator], Path]:
        if name not in known:
            stream, models = stream_and_models(name)
            found = prequential(models, stream, rows=4_000)  # enough for every section of a page
            path = folder / f"{name}.html"
            told = Background(name, f"{found.rows:,} rows", f"bayou evaluate {name}", "class", {})
            write_report(path, found, models, told)
            known[name] = (found, models, path)
        return known[name]

    return make
