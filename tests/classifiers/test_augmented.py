"""TAN, FAN and the super parent classifier on Play Tennis."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.classifiers.play_tennis import COLUMNS, LABELS, RECORDS, taught, vectors, yes

from bayou.classifiers.fan import FAN
from bayou.classifiers.given_collection import Collection
from bayou.classifiers.super_parent import SuperParent
from bayou.classifiers.tan import TAN
from bayou.errors import SchemaError, UnsupportedError
from bayou.readings.structure import GreedyForest, HoeffdingSearch, SpanningTree, information

VECTORS, FORESTS = vectors("bouckaert_playtennis.json"), vectors("fan_superparent.json")
TOLD = {"prior": "laplace", "order": COLUMNS}


@pytest.mark.parametrize("number", range(3))
def test_tan_rooted_at_the_first_column(number):
    query = VECTORS["queries"][number]
    model = taught(TAN(**TOLD, interpolate=0))
    assert yes(model, query["query"]) == pytest.approx(query["TAN_root0"]["posterior"][0], rel=1e-13)
    parents = query["TAN_root0"]["parents"]
    assert model.parents_ == {
        c: None if p is None else COLUMNS[p] for c, p in zip(COLUMNS, parents, strict=True)
    }


def test_tan_rooted_where_weka_roots_it():
    model = taught(TAN(prior="laplace", order=["Humidity", "Outlook", "Temperature", "Wind"], interpolate=0))
    for query, want in zip(VECTORS["queries"], (0.622642, 0.9082, 0.7724), strict=True):
        assert yes(model, query["query"]) == pytest.approx(want, abs=5e-5)


def test_a_column_whose_parent_is_missing_is_read_with_the_class_alone():
    model = taught(TAN(**TOLD, interpolate=0))
    got = model.predict_proba_one({"Temperature": "Cool", "Humidity": "High"})["Yes"]
    cool, high = (10 / 16) * (4 / 12) * (1 / 5), (6 / 16) * (2 / 8) * (1 / 3)
    assert got == pytest.approx(cool / (cool + high), rel=1e-13)


def test_a_tree_of_few_rows_is_mixed_with_the_class_alone():
    """Two columns of 3 and 2 values and 2 classes: 12 cells, 14 rows; then as many rows again and again."""
    for copies, share in ((1, 0.25), (4, 12 / 56), (100, 12 / 1400)):
        names = ("Outlook", "Wind")
        rows = [{name: row[name] for name in names} for row in RECORDS] * copies
        model = TAN(prior="laplace", order=list(names)).fit(rows, LABELS * copies)
        kept = model.engine.arrays()
        assert kept["joint.reading.sets"].tolist() == [[0, -1, -1], [1, -1, -1], [1, 0, -1]]
        assert kept["joint.reading.u"].tolist() == pytest.approx([1.0, share, 1.0 - share], rel=1e-15)
        chance = {}
        for label in ("No", "Yes"):
            mine = [row for row, y in zip(rows, LABELS * copies, strict=True) if y == label]
            sunny = [row for row in mine if row["Outlook"] == "Sunny"]
            strong = [sum(row["Wind"] == "Strong" for row in some) for some in (mine, sunny)]
            alone, given = (strong[0] + 1) / (len(mine) + 2), (strong[1] + 1) / (len(sunny) + 2)
            chance[label] = (
                (len(mine) + 1) * (len(sunny) + 1) / (len(mine) + 3) * (share * alone + (1 - share) * given)
            )
        got = model.predict_proba_one({"Outlook": "Sunny", "Wind": "Strong"})["Yes"]
        assert got == pytest.approx(chance["Yes"] / sum(chance.values()), rel=1e-13)
        assert model.parents_ == {"Outlook": None, "Wind": "Outlook"}


def test_a_tree_of_noise_does_not_fall_below_the_majority():
    """Columns of many values that tell nothing: a tree without more smoothing follows chance in its cells."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(6, size=(700, 9)).astype(str), (rng.random(700) < 0.3).astype(int)
    train, test = slice(0, 250), slice(250, 700)
    smooth, rough = (
        TAN(interpolate=share).fit(X[train], y[train]).score(X[test], y[test]) for share in (0.25, 0)
    )
    assert smooth > rough


@pytest.mark.parametrize("share", [-0.1, 1.0, 2.0])
def test_what_is_interpolated_is_a_share(share):
    with pytest.raises(SchemaError, match="interpolate"):
        TAN(interpolate=share).learn_one({"a": "x"}, "y")


def test_a_kept_tree_is_mixed_by_the_rows_there_are_now():
    X, y = np.random.default_rng(1).integers(2, size=(3000, 3)).astype(str), [0, 1] * 1500
    model = TAN(delta=1e-9).fit(X, y)
    assert model.engine.arrays()["joint.reading.u"].min() == pytest.approx(8 / 3000)


def test_information_between_columns():
    model = taught(TAN(**TOLD, interpolate=0))
    summary = model.engine.views["joint"].summary
    names = model.schema_.names("nominal")
    got = information(summary)
    for pair, want in VECTORS["cmi_nats"].items():
        i, j = (names.index(name) for name in pair.split("-"))
        assert got[i, j] == pytest.approx(want, abs=1e-14)
    for name, want in VECTORS["order_heuristic_sum_cmi"].items():
        assert got[names.index(name)].sum() == pytest.approx(want, abs=1e-13)


@pytest.mark.parametrize(
    ("name", "theirs"), [("loglik", "loglik"), ("aic", "AIC"), ("mdl", "MDL"), ("bayes", "K2")]
)
def test_fan(name, theirs):
    want, model = FORESTS[theirs], taught(FAN(name, **TOLD))
    parents = {c: None if p is None else COLUMNS[p] for c, p in zip(COLUMNS, want["parents"], strict=True)}
    assert model.parents_ == parents
    summary, names = model.engine.views["joint"].summary, model.schema_.names("nominal")
    gains = GreedyForest(name).gains(summary)
    for edge, gain in want["deltas"].items():
        parent, child = edge.split("->")
        assert gains[names.index(child), names.index(parent)] == pytest.approx(gain, abs=1e-12)


def test_unknown_score_is_refused_before_anything_is_learned():
    with pytest.raises(SchemaError, match="score='k2'"):
        FAN("k2").learn_one({"a": "b"}, 0)


def test_super_parents_leaving_one_out():
    record = np.zeros((3, 5))
    for j, name in enumerate([*COLUMNS, "none"]):
        model = taught(Collection({c: [[name]] for c in COLUMNS if name not in (c, "none")}, **TOLD))
        for x, y in zip(RECORDS, LABELS, strict=True):
            model.unlearn([x], [y])
            p = model.predict_proba_one(x)[y]
            model.learn_one(x, y)
            record[0, j] += p
            record[1, j] += p > 0.5
        want = FORESTS["superparent_loo"][name]
        assert record[1, j] == want["loo_correct"]
        assert record[0, j] == pytest.approx(want["loo_sum_prob"], rel=1e-13)
    choice = taught(SuperParent(**TOLD)).engine.views["joint"].choice
    assert COLUMNS[replace(choice, evidence=False).best(record, np.arange(4))] == "Outlook"


def test_the_best_of_many_candidates_needs_evidence_for_itself():
    choice = SuperParent().choice()
    hits, losses = [60.0, 62.0, 61.0, 50.0], [28.0, 29.5, 28.0, 30.0]  # of three columns, and of none
    record = np.array([np.zeros(4), hits, losses])
    assert choice.best(record, np.arange(3)) == 2  # 62 hits of column 1, but 29.5 + log 3 > 30
    assert choice.best(record, np.arange(2)) == 0  # two candidates share the prior
    assert choice.best(record, np.array([1])) == 1  # one against none: e^.5 to 1
    record[2, :3] += 1.0
    assert choice.best(record, np.arange(3)) == -1
    assert replace(choice, evidence=False).best(record, np.arange(3)) == 1


def test_a_column_that_is_ahead_by_hits_alone_is_not_chosen():
    rng = np.random.default_rng(1)
    y = (rng.random(200) < 0.3).astype(int)
    X = rng.random((200, 9)) < 0.4 + 0.2 * y[:, None]  # independent given the class: naive Bayes is true
    model = SuperParent().fit(np.where(X, "yes", "no").astype(object), y)
    record = model.engine.views["joint"].record.record
    assert record[1, :-1].max() > record[1, -1]
    assert model.super_parent_ is None


def test_the_track_record_finds_the_super_parent():
    rng = np.random.default_rng(0)
    s = rng.integers(0, 2, 2000)
    y = rng.integers(0, 2, 2000)
    others = [(s ^ y ^ (rng.random(2000) < 0.2)) for _ in range(4)]
    X = np.array(["no", "yes"], dtype=object)[np.column_stack([*others, s])]
    model = SuperParent().fit(X, y)
    assert model.super_parent_ == "x4"
    assert model.score(X, y) > 0.85
    with pytest.raises(UnsupportedError, match="cannot unlearn"):
        model.unlearn(X[:1], y[:1])


def test_without_gain_there_is_no_super_parent():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 3000)
    X = np.column_stack([y ^ (rng.random(3000) < 0.3) for _ in range(6)])
    model = SuperParent().fit(np.array(["no", "yes"], dtype=object)[X], y)
    nb = model.predict_proba(np.array([["yes"] * 6], dtype=object))[0, 1]
    assert nb == pytest.approx(0.7**6 / (0.7**6 + 0.3**6), abs=0.02)


def drawn_with_a(rows, seed=0):
    """Columns a and b, and c that goes with a."""
    rng = np.random.default_rng(seed)
    y, a, b = rng.integers(2, size=rows), rng.integers(2, size=rows), rng.integers(2, size=rows)
    c = np.where(rng.random(rows) < 0.4, a, rng.integers(2, size=rows))
    return [{"a": str(i), "b": str(j), "c": str(k)} for i, j, k in zip(a, b, c, strict=True)], y.tolist()


def changes(model, rows, labels):
    """How often the tree changed from one refresh point to the next, after the first hundred rows."""
    seen, count = None, 0
    for i in range(0, len(rows), 50):
        model.learn_many(rows[i : i + 50], labels[i : i + 50])
        edges = {frozenset((k, v)) for k, v in model.refresh().parents_.items() if v}
        count += seen is not None and i >= 100 and edges != seen
        seen = edges
    return count


def test_a_network_is_kept_until_another_is_better_for_sure():
    rng = np.random.default_rng(0)  # columns without a relation: every tree is as good as another
    rows = [dict(zip("abcd", map(str, row), strict=True)) for row in rng.integers(2, size=(3000, 4)).tolist()]
    labels = rng.integers(2, size=3000).tolist()
    eager, sure = TAN(), TAN(delta=1e-4)
    assert changes(eager, rows, labels) > 5
    assert changes(sure, rows, labels) == 0


def test_hoeffdings_bound_is_the_one_printed():
    """By hand: n rows, one new edge between columns of 2 and 3 values, delta."""
    rows = [{"a": str(i % 2), "b": str(i % 3), "c": str(i // 2 % 2)} for i in range(120)]
    model = TAN(delta=0.05)
    model.learn_many(rows, [i % 2 for i in range(120)])
    summary = model.engine.views["joint"].summary
    bound = HoeffdingSearch(SpanningTree(), 0.05).bound(summary, {(0, 1)})
    assert bound == pytest.approx(np.log(2) * np.sqrt(np.log(20) / 240), rel=1e-12)
    gains = SpanningTree().gains_per_row(summary)
    assert gains == pytest.approx(information(summary), rel=1e-15)


def test_a_network_that_is_far_better_replaces_the_one_kept():
    first, labels = drawn_with_a(400)
    later = [{"a": row["b"], "b": row["a"], "c": row["c"]} for row in drawn_with_a(8000, seed=1)[0]]
    model = TAN(delta=1e-3)
    model.learn_many(first, labels)
    before = model.refresh().parents_
    model.learn_many(later, drawn_with_a(8000, seed=1)[1])
    edges = [
        {frozenset((k, v)) for k, v in found.items() if v} for found in (before, model.refresh().parents_)
    ]
    assert frozenset("ac") in edges[0]
    assert frozenset("bc") in edges[1]


@pytest.mark.parametrize("delta", [0.0, 1.0, -1.0])
def test_delta_is_a_probability(delta):
    with pytest.raises(SchemaError, match="delta"):
        TAN(delta=delta).learn_one({"a": "x"}, "y")


def test_a_forest_finds_what_pays_in_small_tables():
    """Six classes, columns of eight values, 200 rows: 294 parameters at log(N)/2 cost more than any edge adds."""
    rng = np.random.default_rng(3)
    y = rng.integers(6, size=200)
    a = rng.integers(8, size=200)
    X = np.stack([a, (a + y) % 8, rng.integers(8, size=200)], axis=1).astype(str)
    assert FAN().fit(X, y).parents_["x0"] == "x1"
    assert FAN("mdl").fit(X, y).parents_ == {"x0": None, "x1": None, "x2": None}
