"""Every figure drawn, saved, and holding the numbers it should."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from bayou import plots
from bayou.classifiers import MultinomialNB, NaiveBayes
from bayou.classifiers.tan import TAN
from bayou.classifiers.weighted import WeightedNB
from bayou.errors import SchemaError, UnsupportedError
from bayou.evaluate import Evaluation, prequential
from bayou.streams.generators import MixedGaussian


@pytest.fixture(scope="module")
def models() -> dict[str, Any]:
    return {"nb": NaiveBayes(numeric="gk"), "gaussian": NaiveBayes(), "wnb": WeightedNB(), "tan": TAN()}


@pytest.fixture(scope="module")
def found(models: dict[str, Any]) -> Evaluation:
    return prequential(models, MixedGaussian(seed=4), rows=3000)


def drawn(ax: Any) -> Any:
    """Draw it for real: names that are no mathematics, glyphs, layouts all count."""
    file = io.BytesIO()
    ax.figure.savefig(file, format="png")
    assert file.getbuffer().nbytes > 3000
    return ax


def test_learning_curves_show_every_model(found: Evaluation) -> None:
    for form in ("windowed", "running", "faded"):
        ax = drawn(plots.learning_curves(found, "kappa", form))
        lines = {line.get_label(): line.get_ydata() for line in ax.lines}
        assert list(lines) == list(found)
        assert np.array_equal(lines["nb"], getattr(found["nb"].curve, form)["kappa"])


def test_pictures_of_one_result_hold_its_numbers(found: Evaluation) -> None:
    result = found["nb"]
    label = result.labels[0]
    assert [t.get_text() for t in drawn(plots.confusion(result)).texts] == [
        f"{v:,.0f}" for v in result.confusion.ravel()
    ]
    ax = drawn(plots.per_class(result))
    lengths = [bar.get_width() for bar in ax.patches]
    per_class = result.scores.per_class
    assert lengths == [*per_class.precision, *per_class.recall, *per_class.f1]
    assert f"{result.thresholds(label).auc:.4f}" in drawn(plots.roc(result, label)).get_title(loc="left")
    assert "best F1" in drawn(plots.precision_recall(result, label)).get_title(loc="left")
    assert f"{result.calibration.error:.4f}" in drawn(plots.calibration(result)).get_title(loc="left")


@pytest.mark.usefixtures("found")
def test_pictures_of_models(models: dict[str, Any]) -> None:
    for name in ("nb", "gaussian", "tan"):
        columns = list(models[name].schema_.place)
        for column in columns:
            drawn(plots.attribute(models[name], column))
        bars = drawn(plots.information(models[name])).patches
        assert len(bars) == len(columns)
        assert all(0 <= bar.get_width() <= 1 for bar in bars)
    parts = plots.attribute(models["nb"], columns[0]).patches
    assert sum(bar.get_width() * bar.get_height() for bar in parts) == pytest.approx(1.0)
    assert len(drawn(plots.weights(models["wnb"])).patches) == len(columns)
    texts = {text.get_text() for text in drawn(plots.structure(models["tan"])).texts}
    assert set(columns) <= texts


def test_words_and_explanations_with_names_that_look_like_mathematics() -> None:
    model = MultinomialNB()
    model.learn_many([{"t$_x$": "cheap $pills$ now"}, {"t$_x$": "see you now"}] * 20, ["$a$", "b^2"] * 20)
    names = [label.get_text() for label in drawn(plots.words(model, "$a$")).get_yticklabels()]
    assert names[0] == "cheap"
    told = model.explain({"t$_x$": "cheap pills"})
    ax = drawn(plots.explanation(told))
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(told.log_odds)


def test_what_cannot_be_drawn_says_why(models: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedError, match="no weights"):
        plots.weights(models["nb"])
    with pytest.raises(UnsupportedError, match="no parents"):
        plots.structure(models["nb"])
    with pytest.raises(UnsupportedError, match="no words"):
        plots.words(models["nb"], "c0")
    with pytest.raises(KeyError, match="no table of 'nowhere'"):
        plots.attribute(models["nb"], "nowhere")
    with pytest.raises(UnsupportedError, match="learned nothing"):
        plots.information(NaiveBayes())


def test_axes_that_are_given_are_drawn_on(found: Evaluation) -> None:
    from matplotlib.figure import Figure

    left, right = Figure().subplots(1, 2)
    assert plots.calibration(found["nb"], ax=left) is left
    assert plots.learning_curves(found, ax=right) is right


def test_what_prequential_returns_can_be_drawn_as_it_is() -> None:
    alone = prequential(NaiveBayes(), MixedGaussian(seed=4), rows=600)
    result = alone.only
    label = result.labels[0]
    assert [t.get_text() for t in plots.confusion(alone).texts] == [
        f"{v:,.0f}" for v in result.confusion.ravel()
    ]
    for picture in (plots.per_class, plots.calibration):
        assert picture(alone).get_title(loc="left") == picture(result).get_title(loc="left")
    for curve in (plots.roc, plots.precision_recall):
        assert curve(alone, label).get_title(loc="left") == curve(result, label).get_title(loc="left")


def test_of_several_models_one_has_to_be_chosen(found: Evaluation) -> None:
    with pytest.raises(SchemaError, match=r"models were evaluated, \['nb'.*found\['nb'\]"):
        plots.confusion(found)


def test_baselines_can_be_told_apart_and_legends_cover_nothing(found: Evaluation) -> None:
    ax = drawn(plots.learning_curves(found))
    looks = {(line.get_color(), line.get_linestyle()) for line in ax.lines}
    assert len(looks) == len(ax.lines)
    for one in (ax, drawn(plots.per_class(found["nb"]))):
        one.figure.canvas.draw()
        legend, inside = one.get_legend().get_window_extent(), one.get_window_extent()
        assert legend.x0 >= inside.x1 - 1
        assert legend.x1 <= one.figure.bbox.x1 + 1


def test_a_picture_says_what_it_is_of(found: Evaluation, models: dict[str, Any]) -> None:
    assert len(drawn(plots.learning_curves(found["nb"])).lines) == 1
    with pytest.raises(
        SchemaError, match="a picture of an evaluation, which `prequential` gives, not of NaiveBayes"
    ):
        plots.learning_curves(models["nb"])
    with pytest.raises(SchemaError, match="a picture of an evaluation"):
        plots.confusion(models["nb"])
    with pytest.raises(UnsupportedError, match="a picture of a model, not of Evaluation"):
        plots.information(found)
