"""Random models of every kind that exports, and rows to score: missing, unseen and extreme values among them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import bayou
from bayou import (
    AODE,
    FAN,
    FANC,
    SPC,
    TAN,
    TC,
    AdaGrad,
    AdaptiveForest,
    AveragedNB,
    Bagging,
    BernoulliNB,
    Collection,
    ComplementNB,
    CountForest,
    Declared,
    EcocNB,
    Fading,
    Gaussian,
    Grid,
    HoeffdingTree,
    Kernel,
    MajorityClass,
    MEstimate,
    MultinomialNB,
    NaiveBayes,
    PaperRate,
    Pool,
    ResetOnDrift,
    SPCr,
    SuperParent,
    WeightedNB,
    WeightedVoting,
    Window,
)

Row = dict[str, Any]
NAMES = ("height", "weight", "sky", "wind", "flag")
CLASSES = ("dry", "wet", "snow")


def learned_rows(n: int, seed: int, few: bool = False) -> tuple[list[Row], list[str]]:
    """Rows of two numeric and three nominal columns that depend on three classes and on one another."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    rows = []
    for y in labels:
        sky = rng.choice(["blue", "grey", "red"], p=[[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5]][y])
        row: Row = {
            "height": float(np.round(rng.normal([0.0, 1.5, 4.0][y], [1.0, 2.0, 0.5][y]), 2)),
            "weight": float(rng.gamma(2.0 + y) * (3.0 if sky == "blue" else 1.0)),
            "sky": str(sky),
            "wind": str(rng.choice(["calm", "gale", f"w{rng.integers(9)}"])),
            "flag": bool(rng.random() < [0.2, 0.5, 0.9][y]),
        }
        rows.append({name: value for name, value in row.items() if rng.random() > 0.05})
    return rows, [CLASSES[y] for y in labels]


def scored_rows(n: int, seed: int) -> list[Row]:
    """Rows to score: a fifth of their values missing, some never seen, some extreme."""
    rng = np.random.default_rng(seed)
    rows, _ = learned_rows(n, seed + 1)
    extremes = [
        1e300,
        -1e300,
        float("inf"),
        float("-inf"),
        float("nan"),
        1e139,
        -1e8,
        1e15,
        0.0,
        5e-324,
        1e140,
    ]
    for row in rows:
        for name in NAMES:
            if rng.random() < 0.2:
                row.pop(name, None)
            elif rng.random() < 0.1:
                numeric = name in ("height", "weight")
                row[name] = float(rng.choice(extremes)) if numeric else f"never seen {rng.integers(3)}"
    rows[0] = {}
    return rows


def mixed(make: Callable[[], Any], n: int = 300, seed: int = 1) -> Any:
    model = make()
    rows, labels = learned_rows(n, seed)
    model.learn_many(rows, labels)
    return model


def documents(n: int, seed: int, vocabulary: int = 30) -> tuple[list[Row], list[str]]:
    """Counts of words, about thirty to a document, which depend on the class."""
    rng = np.random.default_rng(seed)
    words = [f"word{i}" for i in range(vocabulary)]
    means = np.linspace(2, 0.01, vocabulary) * 30 / vocabulary
    labels = rng.integers(3, size=n)
    rows = [
        {w: int(c) for w, c in zip(words, rng.poisson(np.roll(means, 7 * y)), strict=True) if c}
        for y in labels
    ]
    return rows, [CLASSES[y] for y in labels]


def wordy(make: Callable[[], Any], n: int = 200, vocabulary: int = 30) -> Any:
    model = make()
    rows, labels = documents(n, 3, vocabulary)
    model.learn_many(rows, labels)
    return model


def named(make: Callable[[], Any]) -> Any:
    """A model with a column of a hundred and fifty names, more than a SELECT compares one by one."""
    model = make()
    rows, labels = learned_rows(600, 1)
    for i, row in enumerate(rows):
        row["wind"] = f"w'{i % 150}"
    model.learn_many(rows, labels)
    return model


def in_sections(make: Callable[[], Any]) -> Any:
    """A model of rows sorted by a name, then by a number of two values: weights are not heard of others."""
    model = make()
    rows, labels = learned_rows(600, 1)
    for i, row in enumerate(rows):
        row["half"] = float(i % 2)
    order = sorted(range(len(rows)), key=lambda i: (str(rows[i].get("wind")), rows[i]["half"], i))
    model.learn_many([rows[i] for i in order], [labels[i] for i in order])
    return model


def by_steps(make: Callable[[], Any]) -> Any:
    """A model of rows along a way: of rows far away from its end the weights as they are now are not heard."""
    model = make()
    rows, labels = learned_rows(600, 1)
    noise = np.random.default_rng(3).normal(size=len(rows)) / 20
    for i, row in enumerate(rows):
        row["place"] = float(np.sin(i / 60) + noise[i])
    model.learn_many(rows, labels)
    return model


def crowded(make: Callable[[], Any]) -> Any:
    """A model with more values than its vocabulary keeps, so that there is an "other" cell."""
    return mixed(lambda: make(Declared(max_values=4)))


MIXED: dict[str, Callable[[], Any]] = {
    "majority": MajorityClass,
    "nb": NaiveBayes,
    "nb gaussian": lambda: NaiveBayes("gaussian"),
    "nb ddof": lambda: NaiveBayes(Gaussian(ddof=1)),
    "nb gk": lambda: NaiveBayes("gk"),
    "nb gk equal-width": lambda: NaiveBayes("gk", "equal-width"),
    "nb gk equal-frequency": lambda: NaiveBayes("gk", "equal-frequency"),
    "nb gk fayyad-irani": lambda: NaiveBayes("gk", "fayyad-irani"),
    "nb gk k-means": lambda: NaiveBayes("gk", "k-means"),
    "nb pid": lambda: NaiveBayes("pid"),
    "nb cpid": lambda: NaiveBayes("cpid"),
    "nb groups": lambda: NaiveBayes(groups="modl"),
    "nb unsmoothed": lambda: NaiveBayes("gaussian", smoothing=0.0),
    "nb m-estimate": lambda: NaiveBayes(smoothing=MEstimate(2.0, "pooled", 0.01)),
    "nb laplace": lambda: NaiveBayes(prior="laplace"),
    "nb given prior": lambda: NaiveBayes(prior={"snow": 0.5, "dry": 0.0, "wet": 0.5}),
    "weighted": WeightedNB,
    "weighted gaussian": lambda: WeightedNB("gaussian"),
    "weighted groups": lambda: WeightedNB("gk", groups="modl"),
    "weighted paper": lambda: WeightedNB("gaussian", rate=PaperRate()),
    "weighted adagrad": lambda: WeightedNB("gk", rate=AdaGrad(), tied=True),
    "weighted published": lambda: WeightedNB(rate=bayou.Experts(published=True)),
    "weighted persistent": lambda: WeightedNB(rate=bayou.Experts(persistence=True), tied=True),
    "averaged": AveragedNB,
    "averaged gaussian": lambda: AveragedNB("bma", numeric="gaussian"),
    "aode": AODE,
    "aode choosy": lambda: AODE(min_count=100.0, smoothing=0.5),
    "aode unsmoothed": lambda: AODE(smoothing=0.0),
    "tan": TAN,
    "tan unsmoothed": lambda: TAN(smoothing=0.0),
    "fan": FAN,
    "super parent": SuperParent,
    "fanc": FANC,
    "fanc unsmoothed": lambda: FANC(smoothing=0.0),
    "fanc information": lambda: FANC(order="information"),
    "spc": SPC,
    "spc lean": lambda: SPC(super_parent="sky", lean=True),
    "spcr": SPCr,
    "tc": lambda: TC(numeric=Grid(bins=4)),
    "random networks": lambda: bayou.RandomNetworks(networks=4, numeric=Grid(bins=4)),
    "collection": lambda: Collection({"sky": [["wind"], (["flag", "height"], 2.0)], "weight": [["sky"]]}),
    "collection wide": lambda: Collection({"sky": [["wind", "flag", "height"], []]}),
    "tree": lambda: HoeffdingTree(grace=20),
    "tree majority": lambda: HoeffdingTree(grace=20, leaf="majority", split="gini", delta=0.1, tie=0.5),
    "tree binary": lambda: HoeffdingTree(
        grace=20, leaf="bayes", split=bayou.Gini(binary=True), delta=0.1, tie=0.5
    ),
    "bagged trees": lambda: Bagging(HoeffdingTree(grace=20), n_estimators=3),
    "bagging": lambda: Bagging(n_estimators=2),
    "bagging hard": lambda: Bagging(NaiveBayes("gaussian"), n_estimators=5, vote="hard"),
    "voting": lambda: WeightedVoting([NaiveBayes(), TAN()]),
    "adaptive forest": lambda: AdaptiveForest(trees=3, grace=20),
    "forest": lambda: CountForest(trees=7, warm_up=200),
    "forest mean": lambda: CountForest(trees=5, warm_up=120, combine="mean", extra=2),
    "forest growing on": lambda: CountForest(trees=3, warm_up=60, reservoir=100),
    "forest warming up": lambda: CountForest(trees=3, warm_up=2000),
    "pool": lambda: Pool(
        [NaiveBayes("gaussian"), HoeffdingTree(grace=20), CountForest(trees=3, warm_up=100)]
    ),
    "pool forgetting": lambda: Pool([AODE(), WeightedNB()], forget=0.99),
    "reset": lambda: ResetOnDrift(NaiveBayes("gaussian")),
    "fading": lambda: Fading(NaiveBayes("gaussian")),
    "window": lambda: Window(NaiveBayes(), rows=300),
    "ecoc": lambda: EcocNB(NaiveBayes("gaussian")),
    "ecoc auto": lambda: EcocNB(NaiveBayes("gk"), code="one-vs-all"),
    "ecoc pairs": lambda: EcocNB(NaiveBayes("gaussian"), code="one-vs-one"),
    "ecoc l1": lambda: EcocNB(NaiveBayes("gaussian"), decode="l1"),
}
KERNELS: dict[str, Callable[[], Any]] = {
    "nb kernel": lambda: NaiveBayes("kernel"),
    "nb kernel floor": lambda: NaiveBayes(Kernel(20, floor=1e-75, bandwidth="silverman")),
    "nb rounded": lambda: NaiveBayes("rounded-normal"),
}
CROWDED: dict[str, Callable[[Declared], Any]] = {
    "nb other": lambda schema: NaiveBayes(schema=schema),
    "nb other groups": lambda schema: NaiveBayes(groups="modl", schema=schema),
    "aode other": lambda schema: AODE(schema=schema),
    "forest other": lambda schema: CountForest(trees=5, warm_up=150, schema=schema),
    "tree other": lambda schema: HoeffdingTree(grace=20, schema=schema),
}
WORDY: dict[str, Callable[[], Any]] = {
    "multinomial": MultinomialNB,
    "complement": ComplementNB,
    "bernoulli": BernoulliNB,
    "multinomial other": lambda: MultinomialNB(schema=Declared(max_words=12)),
    "ecoc words": lambda: EcocNB(MultinomialNB()),
    "ecoc bernoulli": lambda: EcocNB(BernoulliNB(), code="one-vs-all"),
}
LARGE: dict[str, Callable[[], Any]] = {
    "multinomial large": MultinomialNB,
    "bernoulli large other": lambda: BernoulliNB(schema=Declared(max_words=1500)),
}
NAMED: dict[str, Callable[[], Any]] = {
    "nb names": NaiveBayes,
    "aode names": AODE,
    "forest names": lambda: CountForest(trees=5, warm_up=300),
}
MODELS: dict[str, Callable[[], Any]] = {
    **{name: (lambda make=make: mixed(make)) for name, make in {**MIXED, **KERNELS}.items()},
    **{name: (lambda make=make: crowded(make)) for name, make in CROWDED.items()},
    **{name: (lambda make=make: wordy(make)) for name, make in WORDY.items()},
    **{name: (lambda make=make: wordy(make, vocabulary=2000)) for name, make in LARGE.items()},
    **{name: (lambda make=make: named(make)) for name, make in NAMED.items()},
    "weighted sections": lambda: in_sections(WeightedNB),
    "weighted steps": lambda: by_steps(WeightedNB),
}
WORDY |= LARGE


# a few that together have every node there is
QUICK = (
    "nb", "nb gaussian", "nb groups", "weighted gaussian", "weighted", "weighted sections", "weighted steps",
    "averaged gaussian", "aode",
    "tan unsmoothed", "fanc",
    "collection", "tree", "tree binary", "bagging hard", "voting", "ecoc", "ecoc pairs", "ecoc l1",
    "nb other groups", "multinomial other", "bernoulli", "forest", "pool", "forest other",
    "multinomial large", "bernoulli large other", "nb names", "forest names",
)  # fmt: skip


@cache
def model_of(name: str) -> Any:
    """The model of a name, learned once: scoring changes nothing."""
    return MODELS[name]()


def rows_for(name: str, n: int, seed: int = 9) -> list[Row]:
    """Rows that the model of this name can score."""
    rng = np.random.default_rng(seed)
    if name in NAMED:
        rows = scored_rows(n, seed)
        for row in rows:
            if "wind" in row:
                row["wind"] = f"w'{rng.integers(160)}"
        return rows
    if name == "weighted sections":
        return [{**row, "half": float(rng.integers(2))} for row in scored_rows(n, seed)]
    if name == "weighted steps":
        return [{**row, "place": float(rng.uniform(-3, 3))} for row in scored_rows(n, seed)]
    if name not in WORDY:
        return scored_rows(n, seed)
    rows, _ = documents(n, seed, 2000 if name in LARGE else 30)
    for row in rows:
        if rng.random() < 0.2:
            row["never seen"] = 2
        if rng.random() < 0.1:
            row.clear()
    return rows


def expected(model: Any, rows: list[Row]) -> np.ndarray[Any, Any]:
    """The model's own probabilities, one row at a time forms included."""
    return np.asarray(model.proba(model.encode(rows)))
