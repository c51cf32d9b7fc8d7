"""Generators: any row again from its number, and the Bayes rates they promise."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from tests.streams.drain import drain, plain

from bayou.errors import DataError
from bayou.streams import Rows, Source
from bayou.streams.generators import SEA, BagOfWords, ManyGaussians, MixedGaussian
from bayou.streams.generators.drawn import DrawnSource

MAKERS: dict[str, Callable[..., DrawnSource]] = {
    "mixed": lambda **o: MixedGaussian(**o),
    "sea": lambda **o: SEA(drift_at=[100, 5000], **o),
    "words": lambda **o: BagOfWords(words=200, length=20, **o),
    "many": lambda **o: ManyGaussians(attributes=12, informative=3, redundant=2, structure="blocks", **o),
}


def take(stream: Source, n: int) -> Rows:
    rows = stream.read(n)
    assert rows is not None
    return rows


@pytest.mark.parametrize("name", MAKERS)
def test_rows_depend_on_seed_and_number_only(name: str) -> None:
    make = MAKERS[name]
    whole = drain(make(seed=3, rows=9000), [9000])
    assert len(whole) == 9000
    assert drain(make(seed=3, rows=9000), [1, 2000, 37]) == whole
    assert drain(make(seed=4, rows=9000), [9000]) != whole
    for place in (0, 1, 4095, 4096, 8999):
        stream = make(seed=3)  # endless
        stream.read(max(place, 1))
        position = json.loads(json.dumps(stream.position())) if place else {"row": 0}
        other = make(seed=3, rows=9000)
        other.seek(position)
        assert drain(other, [500]) == whole[place:]
        assert other.progress() == 1.0


@pytest.mark.parametrize("name", MAKERS)
def test_generators_are_sources(name: str) -> None:
    with MAKERS[name](seed=1, rows=5) as stream:
        rows = take(stream, 10)
        assert len(plain(rows)) == 5
        assert list(rows.columns) == list(stream.columns)
        assert set(rows.labels.to_pylist()) <= set(stream.classes)
        assert stream.read(1) is None
        assert stream.rejects.rows == 0
        assert stream.target == "class"
        assert stream.identity["seed"] == 1
        with pytest.raises(DataError):
            stream.seek({"row": -1})
    for bad in ({"seed": -1}, {"rows": -1}):
        with pytest.raises(DataError):
            MAKERS[name](**bad)


def labels(stream: DrawnSource, rows: Rows) -> np.ndarray:
    return np.array([stream.classes.index(label) for label in rows.labels.to_pylist()])


@pytest.mark.parametrize("drift_at", [[], [20_000]])
def test_sea_noise_is_the_bayes_rate(drift_at: list[int]) -> None:
    stream = SEA(drift_at=drift_at, noise=0.2, seed=1)
    rows = take(stream, 40_000)
    total = rows.columns["x0"].to_numpy() + rows.columns["x1"].to_numpy()
    theta = np.where(np.arange(40_000) >= (drift_at or [40_000])[0], 9.0, 8.0)
    assert np.mean((total > theta) == labels(stream, rows)) == pytest.approx(0.8, abs=0.01)
    assert stream.bayes_rate == pytest.approx(0.2)


@pytest.mark.parametrize(("numeric", "nominal"), [(3, 2), (0, 3), (2, 0)])
def test_mixed_gaussian_bayes_accuracy(numeric: int, nominal: int) -> None:
    stream = MixedGaussian(numeric=numeric, nominal=nominal, seed=5)
    rows = take(stream, 60_000)
    joint = np.zeros((60_000, 2))
    for i in range(numeric):
        x = rows.columns[f"x{i}"].to_numpy()
        joint -= 0.5 * (x[:, None] - stream._means[:, i]) ** 2
    for i in range(nominal):
        joint += np.log(stream._tables[i]).T[rows.columns[f"n{i}"].indices.to_numpy()]
    reached = np.mean(joint.argmax(axis=1) == labels(stream, rows))
    assert reached == pytest.approx(stream.bayes_accuracy, abs=0.008)


def test_mixed_gaussian_with_more_classes() -> None:
    stream = MixedGaussian(classes=5, seed=2)
    assert stream.bayes_accuracy is None
    assert stream.bayes_rate is None
    assert set(take(stream, 500).labels.to_pylist()) == set(stream.classes)


def test_bag_of_words_bayes_accuracy() -> None:
    stream = BagOfWords(seed=3)
    stream.seek({"row": 50_000})
    rows = take(stream, 8_000)
    assert rows.words is not None
    assert rows.words.counts.sum() / 8_000 == pytest.approx(50.0, rel=0.02)
    reached = np.mean(stream.log_joint(rows.words).argmax(axis=1) == labels(stream, rows))
    assert reached == pytest.approx(stream.bayes_accuracy, abs=0.015)
    assert 0.5 < reached < 0.999
    assert BagOfWords(contrast=0.0, classes=4).bayes_accuracy == pytest.approx(0.25)


@pytest.mark.parametrize("structure", ["independent", "blocks", "chain", "factor"])
def test_many_gaussians_bayes_accuracy(structure: str) -> None:
    stream = ManyGaussians(60, 12, 10, structure, distance=2.0, seed=7)  # type: ignore[arg-type]
    rows = take(stream, 24_000)
    y = labels(stream, rows)

    def reached(names: list[str]) -> float:
        x = np.column_stack([rows.columns[name].to_numpy() for name in names])
        return float(LinearDiscriminantAnalysis().fit(x[:12_000], y[:12_000]).score(x[12_000:], y[12_000:]))

    informative, redundant = list(stream.informative_columns), list(stream.redundant_columns)
    others = [name for name in stream.columns if name not in informative + redundant]
    assert stream.bayes_accuracy == pytest.approx(0.8413, abs=1e-4)
    assert reached(informative) == pytest.approx(stream.bayes_accuracy, abs=0.012)
    assert reached(list(stream.columns)) == pytest.approx(stream.bayes_accuracy, abs=0.012)
    assert reached(others) == pytest.approx(0.5, abs=0.02)
    assert reached(redundant) < stream.bayes_accuracy + 0.01
    neighbours = [rows.columns[name].to_numpy() for name in stream._order[22:24]]
    near = 0.0 if structure == "independent" else 0.5
    assert np.corrcoef(neighbours)[0, 1] == pytest.approx(near, abs=0.03)


def test_nonsense_is_refused() -> None:
    for make in (
        lambda: SEA(noise=0.7),
        lambda: SEA(thresholds=[]),
        lambda: MixedGaussian(0, 0),
        lambda: BagOfWords(words=0),
        lambda: ManyGaussians(10, 20, 0),
        lambda: ManyGaussians(structure="tree"),  # type: ignore[arg-type]
    ):
        with pytest.raises(DataError):
            make()
